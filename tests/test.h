#ifndef TESTS_TEST_H
#define TESTS_TEST_H

/*
 * A test program is a list of cases; it prints TAP.
 *
 *     TEST(merge_adds_equal_samples)
 *     {
 *         EXPECT(total(p) == 3);
 *         EXPECT_STR(profile_str(p, id), "main");
 *     }
 *     TEST_MAIN
 *
 * Run one case by giving its name as argument.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

static struct test *test_first, **test_end = &test_first;
static bool test_failed;
static const char *test_skipped; /* why, or NULL */

/* Says that the case cannot be tried here; it returns at once. */
#define TEST_SKIP(why) ((void)(test_skipped = (why)))

#define TEST(id)                                                               \
    static void test_##id(void);                                               \
    static struct test test_entry_##id = {#id, test_##id, NULL};               \
    __attribute__((constructor)) static void test_register_##id(void)          \
    {                                                                          \
        *test_end = &test_entry_##id;                                          \
        test_end = &test_entry_##id.next;                                      \
    }                                                                          \
    static void test_##id(void)

#define EXPECT(condition)                                                      \
    ((condition)                                                               \
         ? (void)0                                                             \
         : (void)(test_failed = true, printf("# %s:%d: not so: %s\n",          \
                                             __FILE__, __LINE__, #condition)))

#define EXPECT_STR(got, want)                                                  \
    test_expect_str(__FILE__, __LINE__, (got), str_from(want))

static inline void test_expect_str(const char *file, int line, struct str got,
                                   struct str want)
{
    if (str_eq(got, want))
        return;
    test_failed = true;
    printf("# %s:%d: got \"%" STR_FMT "\", want \"%" STR_FMT "\"\n", file, line,
           STR_ARG(got), STR_ARG(want));
}

static int test_main(int argc, char **argv)
{
    int n = 0, failures = 0;

    for (struct test *t = test_first; t; t = t->next) {
        if (argc > 1 && strcmp(argv[1], t->name) != 0)
            continue;
        test_failed = false;
        test_skipped = NULL;
        t->run();
        failures += test_failed;
        printf("%s %d - %s", test_failed ? "not ok" : "ok", ++n, t->name);
        if (test_skipped)
            printf(" # SKIP %s", test_skipped);
        printf("\n");
        fflush(stdout);
    }
    printf("1..%d\n", n);
    return failures != 0;
}

#define TEST_MAIN                                                              \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        return test_main(argc, argv);                                          \
    }

#endif
