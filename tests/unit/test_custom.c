#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "runtime/endpoint/endpoint_index.h"
#include "runtime/profiles.h"
#include "runtime/unwind/unwind.h"
#include "runtime/write/custom.h"

static const void *key(uintptr_t n)
{
    return (const void *)n;
}

/* The profile as text. */
static struct buf text_of(const char *name)
{
    struct buf out = BUF_INIT(1u << 20);
    struct error err = {""};

    EXPECT(profiles_write(profiles_find(str_from(name)), 1, &out, &err));
    return out;
}

__attribute__((noinline)) static int open_one(struct pprof_profile *p,
                                              uintptr_t n)
{
    int rc = pprof_profile_add(p, key(n), 1);

    __asm__ volatile("" ::: "memory");
    return rc;
}

__attribute__((noinline)) static int open_other(struct pprof_profile *p,
                                                uintptr_t n)
{
    int rc = pprof_profile_add(p, key(n), 1);

    __asm__ volatile("nop" ::: "memory"); /* not the same code */
    return rc;
}

TEST(names_must_be_new_and_fit_for_a_url)
{
    static const char *const bad[] = {"",   "two words", "a?b", "/x",
                                      NULL, "tab\t",     "%41", "\xc3\xa9"};
    char long_name[100];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        EXPECT(!pprof_profile_new(bad[i]) && errno == EINVAL);
    memset(long_name, 'n', sizeof(long_name));
    long_name[CUSTOM_MAX_NAME + 1] = '\0';
    EXPECT(!pprof_profile_new(long_name) && errno == EINVAL);
    EXPECT(!pprof_profile_new("threads") && errno == EEXIST);
    EXPECT(!pprof_profile_new("profile") && errno == EEXIST);
    EXPECT(strcmp(pprof_last_error(), "a profile \"profile\" already exists") ==
           0);
    EXPECT(pprof_profile_new("example.com/conns") != NULL);
    EXPECT(!pprof_profile_new("example.com/conns") && errno == EEXIST);
    EXPECT(profiles_find(STR("example.com/conns")) != NULL);
}

TEST(entries_are_counted_by_the_stack_that_added_them)
{
    struct pprof_profile *p = pprof_profile_new("connections");
    struct buf text;

    EXPECT(p && pprof_profile_count(p) == 0);
    for (uintptr_t i = 0; i < 3; i++)
        EXPECT(open_one(p, i) == 0);
    EXPECT(open_other(p, 77) == 0);
    EXPECT(open_one(p, 2) == -EEXIST && open_other(p, 0) == -EEXIST);
    EXPECT(strcmp(pprof_last_error(), "connections: the key already exists") ==
           0);
    EXPECT(pprof_profile_count(p) == 4);
    text = text_of("connections");
    EXPECT(str_has_prefix(buf_str(&text),
                          STR("connections profile: total 4\n3 @ 0x")));
    EXPECT(str_contains(buf_str(&text), STR("\topen_one+0x")));
    EXPECT(str_contains(buf_str(&text), STR("\topen_other+0x")));
    buf_release(&text);

    EXPECT(pprof_profile_remove(p, key(77)) == 0);
    EXPECT(pprof_profile_remove(p, key(77)) == -ENOENT);
    EXPECT(pprof_profile_count(p) == 3);
    text = text_of("connections");
    EXPECT(
        str_has_prefix(buf_str(&text), STR("connections profile: total 3\n")));
    EXPECT(!str_contains(buf_str(&text), STR("open_other")));
    buf_release(&text);
}

TEST(values_are_summed_up)
{
    struct pprof_profile *p = pprof_profile_new("buffers");
    struct buf text;

    EXPECT(pprof_profile_add(p, key(1), 4096) == 0);
    EXPECT(pprof_profile_add(p, key(2), 100) == 0);
    EXPECT(pprof_profile_count(p) == 2);
    EXPECT(pprof_profile_remove(p, key(1)) == 0);
    text = text_of("buffers");
    EXPECT(str_has_prefix(buf_str(&text), STR("buffers profile: total 100\n")));
    buf_release(&text);
}

TEST(the_index_lists_them_with_their_count)
{
    struct pprof_profile *p = pprof_profile_new("indexed");
    struct buf page = BUF_INIT(1u << 20);

    open_one(p, 1);
    open_one(p, 2);
    endpoint_write_index(&page);
    EXPECT(str_contains(buf_str(&page),
                        STR("<tr><td>2</td><td><a href='indexed?debug=1'>")));
    buf_release(&page);
}

/* Against an array that says which keys are there; the keys collide. */
TEST(many_keys_come_and_go)
{
    static bool there[5000];
    struct pprof_profile *p = pprof_profile_new("many");
    unsigned seed = 1;
    long long n = 0;

    for (int i = 0; i < 100000; i++) {
        unsigned k = (unsigned)rand_r(&seed) % 5000;
        const void *at = key((uintptr_t)k << 32);

        if (rand_r(&seed) % 100 < 50 + (i < 50000 ? 10 : -10)) {
            EXPECT(pprof_profile_add(p, at, 1) == (there[k] ? -EEXIST : 0));
            n += !there[k];
            there[k] = true;
        } else {
            EXPECT(pprof_profile_remove(p, at) == (there[k] ? 0 : -ENOENT));
            n -= there[k];
            there[k] = false;
        }
    }
    EXPECT(n > 100 && pprof_profile_count(p) == n);
    for (unsigned k = 0; k < 5000; k++)
        EXPECT(pprof_profile_remove(p, key((uintptr_t)k << 32)) ==
               (there[k] ? 0 : -ENOENT));
    EXPECT(pprof_profile_count(p) == 0);
}

static struct pprof_profile *shared;

static void *add_and_remove(void *arg)
{
    uintptr_t base = (uintptr_t)arg * 100000;

    for (uintptr_t i = 0; i < 3000; i++)
        EXPECT(open_one(shared, base + i) == 0);
    for (uintptr_t i = 0; i < 3000; i += 2)
        EXPECT(pprof_profile_remove(shared, key(base + i)) == 0);
    return NULL;
}

TEST(threads_add_and_remove_at_once)
{
    pthread_t threads[4];
    struct buf text;

    shared = pprof_profile_new("shared");
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, add_and_remove, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    EXPECT(pprof_profile_count(shared) == 6000);
    text = text_of("shared");
    EXPECT(str_has_prefix(buf_str(&text), STR("shared profile: total 6000\n")));
    buf_release(&text);
}

TEST(a_forked_child_goes_on_with_a_copy)
{
    struct pprof_profile *p = pprof_profile_new("forked");
    int status = -1;
    pid_t child;

    open_one(p, 1);
    child = fork();
    if (child == 0)
        _exit(open_one(p, 1) == -EEXIST && open_one(p, 2) == 0 &&
                      pprof_profile_count(p) == 2
                  ? 0
                  : 1);
    waitpid(child, &status, 0);
    EXPECT(status == 0 && pprof_profile_count(p) == 1);
}

__attribute__((noinline)) static int open_deep(struct pprof_profile *p,
                                               uintptr_t n, int depth)
{
    int rc = depth > 0 ? open_deep(p, n, depth - 1) : open_one(p, n);

    __asm__ volatile("" ::: "memory"); /* no tail call */
    return rc;
}

static bool says_truncated(const char *name)
{
    struct buf text = text_of(name);
    bool found = str_contains(buf_str(&text), STR("[truncated]"));

    buf_release(&text);
    return found;
}

TEST(a_stack_that_is_too_deep_says_that_it_was_cut)
{
    struct pprof_profile *shallow = pprof_profile_new("shallow");
    struct pprof_profile *deep = pprof_profile_new("deep");

    EXPECT(open_deep(shallow, 1, 5) == 0);
    EXPECT(open_deep(deep, 1, 2 * UNWIND_MAX_FRAMES) == 0);
    EXPECT(!says_truncated("shallow"));
    EXPECT(says_truncated("deep"));
}

TEST(there_is_an_end_to_profiles)
{
    char name[32];
    int n = 0;

    do
        snprintf(name, sizeof(name), "filler-%d", n);
    while (n++ < 100 && pprof_profile_new(name));
    EXPECT(n < CUSTOM_MAX + 2 && errno == ENOSPC);
}

TEST_MAIN
