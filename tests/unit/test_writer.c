/*
 * Stack tables as profiles and as texts: what is written is read back by the
 * analyser's own readers.
 */
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/profile.h"
#include "profile/read.h"
#include "runtime/state.h"
#include "runtime/write/function_names.h"
#include "runtime/write/writer.h"

#define NOWHERE 0x10000

static struct stack_table table;
static struct buf out;
static struct error err;

/* Functions with names that the test knows. */
__attribute__((noinline)) static int leaf_of_test(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}

__attribute__((noinline)) static int caller_of_test(int x)
{
    int y = leaf_of_test(x);

    __asm__ volatile("" : "+r"(y));
    return y + 1;
}

static uint64_t leaf_pc(void)
{
    return (uint64_t)(uintptr_t)leaf_of_test + 2;
}

static uint64_t caller_pc(void)
{
    return (uint64_t)(uintptr_t)caller_of_test + 2;
}

static const struct profile_spec count_spec = {
    .name = "threads",
    .types = {{"threads", "count"}},
    .n_types = 1,
    .period_type = {"threads", "count"},
    .period = 1,
};

static void start(void)
{
    EXPECT(runtime_ready(&err));
    EXPECT(stack_table_init(&table, 1024, 1 << 20));
    buf_release(&out);
    out = BUF_INIT(1 << 20);
}

static void add(const uint64_t *pcs, size_t n, uint64_t tag, int64_t count)
{
    struct stack_record *r = stack_table_add(&table, pcs, n, tag);

    EXPECT(r != NULL);
    stack_record_count(r, 0, count);
}

static struct profile *write_and_read(const struct profile_spec *spec)
{
    struct profile *p;

    EXPECT(profile_write(spec, &table, &out, &err));
    p = profile_read_memory(buf_str(&out), NULL, &err);
    if (!p)
        printf("# %s\n", err.text);
    EXPECT(p != NULL);
    stack_table_release(&table);
    return p;
}

static struct str frame_name(const struct profile *p, size_t sample, size_t i)
{
    const struct location *l =
        &p->locations.v[p->stack[p->loc_start[sample] + i]];

    if (l->n_lines == 0)
        return STR("");
    return profile_str(p,
                       p->functions.v[p->lines.v[l->line_start].function].name);
}

TEST(a_stack_becomes_a_sample_with_names_leaf_first)
{
    uint64_t pcs[] = {leaf_pc(), caller_pc()};
    struct profile *p;

    start();
    add(pcs, 2, 0, 7);
    p = write_and_read(&count_spec);
    EXPECT(p->n_samples == 1 && p->types.n == 1 && p->values[0] == 7);
    EXPECT_STR(profile_str(p, p->types.v[0].type), "threads");
    EXPECT(profile_depth(p, 0) == 2);
    EXPECT_STR(frame_name(p, 0, 0), "leaf_of_test");
    EXPECT_STR(frame_name(p, 0, 1), "caller_of_test");
    EXPECT(p->locations.v[p->stack[0]].address == leaf_pc());
    EXPECT(p->period == 1 && p->time_ns == 0 && p->duration_ns == 0);
    EXPECT(p->default_type == 0);
    profile_free(p);
}

TEST(the_program_is_the_first_mapping_and_says_that_it_has_names)
{
    uint64_t pcs[] = {leaf_pc()};
    const struct mapping *m;
    char path[512];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    struct profile *p;

    path[n > 0 ? n : 0] = '\0';
    start();
    add(pcs, 1, 0, 1);
    p = write_and_read(&count_spec);
    m = &p->mappings.v[0];
    EXPECT_STR(profile_str(p, m->file), path);
    EXPECT(m->start <= leaf_pc() && leaf_pc() < m->limit);
    EXPECT(profile_str(p, m->build_id).n == 40);
    EXPECT(m->has_functions);
    EXPECT(p->locations.v[0].mapping == 0);
    profile_free(p);
}

TEST(addresses_without_code_are_kept_without_names)
{
    uint64_t pcs[] = {NOWHERE, leaf_pc()};
    struct profile *p;

    start();
    add(pcs, 2, 0, 1);
    p = write_and_read(&count_spec);
    EXPECT(profile_depth(p, 0) == 2);
    EXPECT_STR(frame_name(p, 0, 0), "");
    EXPECT(p->locations.v[p->stack[0]].address == NOWHERE);
    EXPECT(p->locations.v[p->stack[0]].mapping == NO_INDEX);
    EXPECT_STR(frame_name(p, 0, 1), "leaf_of_test");
    profile_free(p);
}

/* An executable mapping of a file that has no symbols. */
static void *map_nameless_code(void)
{
    char path[] = "/tmp/test-writer-XXXXXX";
    int fd = mkstemp(path);
    void *p = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, 4096) == 0)
        p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    unlink(path);
    return p == MAP_FAILED ? NULL : p;
}

TEST(a_mapping_without_names_says_so)
{
    void *code = map_nameless_code();
    uint64_t pcs[] = {(uint64_t)(uintptr_t)code + 16, leaf_pc()};
    struct profile *p;
    uint32_t nameless, named;

    if (!code) {
        TEST_SKIP("no executable mapping in /tmp");
        return;
    }
    start();
    add(pcs, 2, 0, 1);
    p = write_and_read(&count_spec);
    nameless = p->locations.v[p->stack[0]].mapping;
    named = p->locations.v[p->stack[1]].mapping;
    EXPECT(nameless != NO_INDEX && named != NO_INDEX && nameless != named);
    EXPECT(!p->mappings.v[nameless].has_functions);
    EXPECT(p->mappings.v[named].has_functions);
    profile_free(p);
    munmap(code, 4096);
}

TEST(frames_that_are_no_code_are_words)
{
    uint64_t pcs[] = {leaf_pc(), FRAME_TRUNCATED}, none[] = {FRAME_NO_STACK};
    struct profile *p;

    start();
    add(pcs, 2, 0, 1);
    add(none, 1, 0, 1);
    p = write_and_read(&count_spec);
    for (size_t i = 0; i < p->n_samples; i++) {
        if (profile_depth(p, i) == 2)
            EXPECT_STR(frame_name(p, i, 1), "[truncated]");
        else
            EXPECT_STR(frame_name(p, i, 0), "[no stack]");
    }
    EXPECT(p->n_samples == 2);
    EXPECT_STR(str_from(names_pseudo(FRAME_TRUNCATED)), "[truncated]");
    EXPECT(names_pseudo(NOWHERE) == NULL && names_pseudo(0) == NULL);
    profile_free(p);
}

TEST(stacks_that_count_nothing_are_left_out)
{
    uint64_t a[] = {leaf_pc()}, b[] = {caller_pc()};
    struct profile *p;

    start();
    add(a, 1, 0, 0);
    add(b, 1, 0, -3);
    p = write_and_read(&count_spec);
    EXPECT(p->n_samples == 1 && p->values[0] == -3);
    EXPECT_STR(frame_name(p, 0, 0), "caller_of_test");
    profile_free(p);
}

TEST(an_empty_table_is_a_profile)
{
    struct profile *p;

    start();
    p = write_and_read(&count_spec);
    EXPECT(p->n_samples == 0 && p->types.n == 1 && p->mappings.n > 0);
    profile_free(p);
}

TEST(everything_that_the_spec_says_is_written)
{
    struct profile_spec spec = {
        .types = {{"samples", "count"}, {"cpu", "nanoseconds"}},
        .n_types = 2,
        .period_type = {"cpu", "nanoseconds"},
        .period = 1000000,
        .time_ns = 1700000000000000000,
        .duration_ns = 2500000000,
        .default_type = "cpu",
        .second_is_first_times = 1000000,
        .size_label = "bytes",
        .comments = BUF_INIT(1024)};
    uint64_t pcs[] = {leaf_pc()};
    struct profile *p;

    buf_add(&spec.comments, STR("first line\nsecond line\n"));
    start();
    add(pcs, 1, 64, 5);
    add(pcs, 1, 128, 6);
    p = write_and_read(&spec);
    EXPECT(p->n_samples == 2 && p->types.n == 2);
    for (size_t i = 0; i < p->n_samples; i++) {
        const struct label *l = &p->labels[p->label_start[i]];

        EXPECT(p->values[2 * i + 1] == p->values[2 * i] * 1000000);
        EXPECT(p->label_start[i + 1] - p->label_start[i] == 1);
        EXPECT_STR(profile_str(p, l->key), "bytes");
        EXPECT(l->num == (p->values[2 * i] == 5 ? 64 : 128));
    }
    EXPECT(p->period == 1000000);
    EXPECT_STR(profile_str(p, p->period_type.type), "cpu");
    EXPECT(p->time_ns == 1700000000000000000 && p->duration_ns == 2500000000);
    EXPECT_STR(profile_str(p, p->default_type), "cpu");
    EXPECT(p->comments.n == 2);
    EXPECT_STR(profile_str(p, p->comments.v[1]), "second line");
    buf_release(&spec.comments);
    profile_free(p);
}

TEST(a_reply_without_room_is_an_error_and_not_half_a_profile)
{
    uint64_t pcs[] = {leaf_pc()};

    for (int text = 0; text < 2; text++) {
        struct buf small = BUF_INIT(60);

        start();
        add(pcs, 1, 0, 1);
        EXPECT(!(text ? profile_write_text(&count_spec, &table, &small, &err)
                      : profile_write(&count_spec, &table, &small, &err)));
        EXPECT_STR(str_from(err.text), "the profile is too big");
        stack_table_release(&table);
        buf_release(&small);
    }
}

TEST(the_text_lists_the_biggest_stack_first)
{
    uint64_t a[] = {leaf_pc(), caller_pc()}, b[] = {caller_pc()};
    char want[512];

    start();
    add(a, 2, 0, 2);
    add(b, 1, 0, 40);
    EXPECT(profile_write_text(&count_spec, &table, &out, &err));
    /* After "@" come return addresses, one more than what is looked up. */
    snprintf(want, sizeof(want),
             "threads profile: total 42\n40 @ 0x%llx\n#\t0x%llx\t"
             "caller_of_test+0x2\t",
             (unsigned long long)caller_pc() + 1,
             (unsigned long long)caller_pc());
    EXPECT(str_has_prefix(buf_str(&out), str_from(want)));
    snprintf(want, sizeof(want), "\n\n2 @ 0x%llx 0x%llx\n#\t",
             (unsigned long long)leaf_pc() + 1,
             (unsigned long long)caller_pc() + 1);
    EXPECT(str_contains(buf_str(&out), str_from(want)));
    stack_table_release(&table);
}

TEST(the_text_is_read_as_the_profile_it_is)
{
    uint64_t a[] = {leaf_pc(), caller_pc()}, b[] = {leaf_pc(), FRAME_TRUNCATED};
    struct profile *p;
    int64_t total = 0;

    start();
    add(a, 2, 0, 2);
    add(b, 2, 0, 1);
    EXPECT(profile_write_text(&count_spec, &table, &out, &err));
    p = profile_read_memory(buf_str(&out), NULL, &err);
    EXPECT(p && p->n_samples == 2);
    for (size_t i = 0; p && i < p->n_samples; i++) {
        const struct location *l = &p->locations.v[p->stack[p->loc_start[i]]];

        total += p->values[i];
        EXPECT(l->address == leaf_pc());
    }
    EXPECT(total == 3);
    profile_free(p);
    stack_table_release(&table);
}

TEST(names_are_found_where_code_is)
{
    struct buf pretty = BUF_INIT(256);
    struct names names;
    struct name name;

    start();
    runtime_lock();
    names_init(&names, &runtime.modules);
    EXPECT(names_find(&names, caller_pc(), &name));
    EXPECT_STR(name.mangled, "caller_of_test");
    EXPECT(name.start == (uint64_t)(uintptr_t)caller_of_test);
    EXPECT(name.module && name.module->is_main);
    EXPECT(!names_find(&names, NOWHERE, &name) && !name.module);
    EXPECT(names_find(&names, (uint64_t)(uintptr_t)strtol, &name));
    EXPECT(name.module && !name.module->is_main);
    names_pretty(&names, STR("plain_c_name"), &pretty);
    EXPECT_STR(buf_str(&pretty), "plain_c_name");
    /* Without a C++ runtime the analyser will do it; a sanitizer brings
     * one. */
    buf_clear(&pretty);
    names_pretty(&names, STR("_ZN3foo3barEv"), &pretty);
    EXPECT_STR(buf_str(&pretty), dlsym(RTLD_DEFAULT, "__cxa_demangle")
                                     ? "foo::bar()"
                                     : "_ZN3foo3barEv");
    names_release(&names);
    runtime_unlock();
    buf_release(&pretty);
    stack_table_release(&table);
    EXPECT(caller_of_test(1) == 4);
}

TEST_MAIN
