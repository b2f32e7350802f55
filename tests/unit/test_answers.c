#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "page/answers.h"

struct maker {
    _Atomic int made;
    const char *words; /* NULL: it fails */
    size_t times;      /* the words are repeated */
    int delay_us;
};

static bool make(void *arg, struct buf *out, struct error *err)
{
    struct maker *m = arg;

    m->made++;
    usleep((useconds_t)m->delay_us);
    if (!m->words)
        return error_set(err, "no words");
    for (size_t i = 0; i < m->times; i++)
        buf_add(out, str_from(m->words));
    return true;
}

static bool says(struct answers *a, const char *key, struct maker *m,
                 const char *words)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;
    bool ok;

    buf_add(&out, STR(">"));
    ok = answers_get(a, str_from(key), make, m, &out, &err) &&
         strcmp(buf_cstr(&out), words) == 0;
    buf_release(&out);
    return ok;
}

TEST(an_answer_is_made_once)
{
    struct maker one = {.words = "one", .times = 1};
    struct maker two = {.words = "two", .times = 1};
    struct answers a;

    answers_init(&a, 1000);
    EXPECT(says(&a, "a", &one, ">one"));
    EXPECT(says(&a, "a", &two, ">one"));
    EXPECT(says(&a, "b", &two, ">two"));
    EXPECT(one.made == 1 && two.made == 1);
    answers_release(&a);
}

TEST(a_failure_is_not_kept)
{
    struct maker none = {0}, one = {.words = "one", .times = 1};
    struct answers a;
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    answers_init(&a, 1000);
    EXPECT(!answers_get(&a, STR("a"), make, &none, &out, &err));
    EXPECT(strcmp(err.text, "no words") == 0);
    EXPECT(says(&a, "a", &one, ">one"));
    EXPECT(none.made == 1 && one.made == 1);
    buf_release(&out);
    answers_release(&a);
}

TEST(what_was_not_asked_for_the_longest_goes_first)
{
    struct maker ten = {.words = "x", .times = 10};
    struct answers a;

    answers_init(&a, 25);
    EXPECT(says(&a, "a", &ten, ">xxxxxxxxxx"));
    EXPECT(says(&a, "b", &ten, ">xxxxxxxxxx"));
    EXPECT(says(&a, "a", &ten, ">xxxxxxxxxx") && ten.made == 2);
    EXPECT(says(&a, "c", &ten, ">xxxxxxxxxx") && ten.made == 3);
    EXPECT(says(&a, "a", &ten, ">xxxxxxxxxx") && ten.made == 3);
    EXPECT(says(&a, "b", &ten, ">xxxxxxxxxx") && ten.made == 4);
    EXPECT(a.bytes <= 25);
    answers_release(&a);
}

TEST(one_that_is_too_large_is_given_but_not_kept)
{
    struct maker ten = {.words = "x", .times = 10};
    struct answers a;

    answers_init(&a, 9);
    EXPECT(says(&a, "a", &ten, ">xxxxxxxxxx"));
    EXPECT(says(&a, "a", &ten, ">xxxxxxxxxx") && ten.made == 2);
    EXPECT(a.n == 0 && a.bytes == 0);
    answers_release(&a);
}

TEST(there_are_not_too_many)
{
    struct maker one = {.words = "x", .times = 1};
    struct answers a;
    char key[16];

    answers_init(&a, 1 << 20);
    for (int i = 0; i < 3 * ANSWERS_MAX; i++) {
        snprintf(key, sizeof(key), "%d", i);
        EXPECT(says(&a, key, &one, ">x"));
    }
    EXPECT(a.n == ANSWERS_MAX);
    answers_release(&a);
}

static struct answers shared;
static struct maker slow = {.words = "slow", .times = 1, .delay_us = 50000};
static struct maker failing = {.delay_us = 20000};

static void *ask(void *arg)
{
    return says(&shared, "a", arg, ">slow") ? arg : NULL;
}

static int ask_in_threads(struct maker *m)
{
    pthread_t threads[8];
    int good = 0;

    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, ask, m) != 0)
            return -1;
    for (int i = 0; i < 8; i++) {
        void *result;

        pthread_join(threads[i], &result);
        good += result != NULL;
    }
    return good;
}

TEST(threads_wait_for_the_one_that_makes_it)
{
    answers_init(&shared, 1000);
    EXPECT(ask_in_threads(&slow) == 8);
    EXPECT(slow.made == 1);
    answers_release(&shared);
}

TEST(who_waited_for_a_failure_tries_itself)
{
    answers_init(&shared, 1000);
    EXPECT(ask_in_threads(&failing) == 0);
    EXPECT(failing.made == 8 && shared.n == 0);
    answers_release(&shared);
}

TEST_MAIN
