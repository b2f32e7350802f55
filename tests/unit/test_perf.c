/*
 * perf.data and stacks as text.  The files are the seeds of the fuzz target:
 * a process "service" with its program at 0x400000, a library at
 * 0x7f0000000000 and the kernel.
 */
#include "base/file.h"
#include "perf/convert.h"
#include "profile/text_stacks.h"
#include "test.h"

static struct profile *convert(const char *path)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};
    struct profile *p = NULL;

    if (file_read(path, &bytes, &err))
        p = perf_convert(buf_str(&bytes), NULL, &err);
    if (!p)
        printf("# %s\n", err.text);
    buf_release(&bytes);
    return p;
}

/* The addresses of a sample in hex, innermost first. */
static struct str stack_of(const struct profile *p, size_t sample, char *out,
                           size_t n)
{
    size_t used = 0;

    for (size_t i = p->loc_start[sample]; i < p->loc_start[sample + 1]; i++)
        used += (size_t)snprintf(
            out + used, n - used, "%s%llx", used ? " " : "",
            (unsigned long long)p->locations.v[p->stack[i]].address);
    return str_of(out, used);
}

static struct str file_of(const struct profile *p, size_t sample, size_t frame)
{
    const struct location *l =
        &p->locations.v[p->stack[p->loc_start[sample] + frame]];

    return l->mapping == NO_INDEX
               ? STR("")
               : profile_str(p, p->mappings.v[l->mapping].file);
}

TEST(stacks_by_frame_pointers)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/frame-pointers");
    char text[256];

    EXPECT(p && p->n_samples == 4);
    /* The two samples of one stack, written out of order, are one. */
    EXPECT_STR(stack_of(p, 0, text, sizeof(text)), "400100 4001ff 4002ff");
    EXPECT(p->values[0] == 2 && p->values[1] == 1000);
    EXPECT_STR(stack_of(p, 1, text, sizeof(text)),
               "ffffffff81000100 ffffffff810001ff 7f0000000010 4001ff 4002ff");
    EXPECT_STR(file_of(p, 1, 0), "[kernel.kallsyms]_text");
    EXPECT_STR(file_of(p, 1, 2), "/lib/libx.so");
    EXPECT_STR(file_of(p, 1, 3), "/bin/service");
    profile_free(p);
}

TEST(a_fork_has_its_parents_maps_until_it_execs)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/frame-pointers");

    EXPECT_STR(file_of(p, 2, 0), "/bin/service");
    EXPECT_STR(file_of(p, 3, 0), "/bin/child");
    profile_free(p);
}

TEST(the_program_is_the_first_mapping_and_has_its_build_id)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/frame-pointers");

    EXPECT_STR(profile_str(p, p->mappings.v[0].file), "/bin/service");
    EXPECT_STR(profile_str(p, p->mappings.v[0].build_id),
               "000102030405060708090a0b0c0d0e0f10111213");
    EXPECT_STR(profile_str(p, p->types.v[1].type), "cycles:u");
    profile_free(p);
}

TEST(stacks_by_the_processors_branch_records)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/lbr");
    char text[256];

    EXPECT(p && p->n_samples == 2);
    EXPECT_STR(stack_of(p, 0, text, sizeof(text)), "400100 400210 400310");
    EXPECT_STR(stack_of(p, 1, text, sizeof(text)),
               "ffffffff81000100 400100 400210 400310");
    profile_free(p);
}

TEST(copied_stacks_of_code_without_unwind_data_go_by_frame_pointer)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/copied-stack");
    char text[256];

    EXPECT(p && p->n_samples == 1);
    EXPECT_STR(stack_of(p, 0, text, sizeof(text)), "400100 4001ff");
    profile_free(p);
}

TEST(two_events_are_two_values)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/two-events");

    EXPECT(p && p->types.n == 3 && p->n_samples == 2);
    EXPECT_STR(profile_str(p, p->types.v[1].type), "cpu-clock");
    EXPECT_STR(profile_str(p, p->types.v[1].unit), "nanoseconds");
    EXPECT_STR(profile_str(p, p->types.v[2].type), "page-faults");
    EXPECT(p->values[0] == 1 && p->values[1] == 500 && p->values[2] == 0);
    EXPECT(p->values[3] == 1 && p->values[4] == 0 && p->values[5] == 3);
    profile_free(p);
}

TEST(a_file_that_came_through_a_pipe)
{
    struct profile *p = convert(PPROF_SEEDS "/perf/pipe");

    EXPECT(p && p->n_samples == 1);
    EXPECT_STR(file_of(p, 0, 0), "/bin/service");
    profile_free(p);
}

TEST(other_byte_orders_and_empty_files_are_refused_in_a_sentence)
{
    struct error err;

    EXPECT(!perf_convert(STR("2ELIFREP01234567"), NULL, &err));
    EXPECT_STR(str_from(err.text), "perf.data: recorded on a big-endian "
                                   "machine, which is not read here");
    EXPECT(!perf_convert(STR("PERFILE2\20\0\0\0\0\0\0\0"), NULL, &err));
    EXPECT_STR(str_from(err.text), "perf.data: there are no events in it");
}

static struct profile *parse(struct str text)
{
    struct error err = {{0}};

    EXPECT(text_stacks_detect(text));
    return text_stacks_parse(text, &profile_default_limits, &err);
}

static struct str name_of(const struct profile *p, size_t sample, size_t frame)
{
    const struct location *l =
        &p->locations.v[p->stack[p->loc_start[sample] + frame]];

    return profile_str(p,
                       p->functions.v[p->lines.v[l->line_start].function].name);
}

TEST(the_text_of_perf_script)
{
    struct profile *p = parse(
        STR("my program 21/22 [001] 1.5:   100 cycles:u: \n"
            "\t  114a std::map<int, (anonymous namespace)::x>::f(int)+0x11 "
            "(/bin/x y)\n"
            "\t 10 [unknown] ([unknown])\n\n"
            "other 5 2.5:  7 cycles:u:    10 main+0x1 (/bin/x)\n"));

    EXPECT(p && p->n_samples == 2);
    EXPECT_STR(name_of(p, 0, 0),
               "std::map<int, (anonymous namespace)::x>::f(int)");
    EXPECT_STR(file_of(p, 0, 0), "/bin/x y");
    EXPECT_STR(name_of(p, 0, 1), "[unknown]");
    EXPECT_STR(name_of(p, 1, 0), "main");
    EXPECT(p->values[0] == 1 && p->values[1] == 100 && p->values[3] == 7);
    EXPECT_STR(profile_str(p, p->labels[0].str), "my program");
    profile_free(p);
}

TEST(folded_stacks_start_with_the_outermost_frame)
{
    struct profile *p = parse(STR("main;a b;leaf 40\n\nmain;a b 2\n"));

    EXPECT(p && p->n_samples == 2);
    EXPECT_STR(name_of(p, 0, 0), "leaf");
    EXPECT_STR(name_of(p, 0, 1), "a b");
    EXPECT_STR(name_of(p, 0, 2), "main");
    EXPECT(p->values[0] == 40 && p->values[1] == 2);
    profile_free(p);
}

TEST(text_that_is_no_stacks_is_left_alone)
{
    EXPECT(!text_stacks_detect(STR("")));
    EXPECT(!text_stacks_detect(STR("one 1\ntwo 2\n")));
    EXPECT(!text_stacks_detect(STR("a;b 1\nand words\n")));
    EXPECT(!text_stacks_detect(STR("a;b 1.5.6\n")));
}

TEST_MAIN
