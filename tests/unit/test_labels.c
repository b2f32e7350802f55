#include "test.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"

static struct label list[LABELS_MAX];

/* Spinning, since a barrier wakes one after the other. */
static _Atomic int missing;

static void *push_first(void *arg)
{
    char value[16];

    snprintf(value, sizeof(value), "%p", arg);
    missing--;
    while (missing > 0)
        ;
    return labels_push(0, STR("thread"), str_from(value)) ? NULL : arg;
}

/* The first labels of a process: 0 when every thread got its own. */
static int push_at_once(void)
{
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    int without = 0;

    missing = THREADS;
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, push_first, (void *)(i + 1)))
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        without += result != NULL;
    }
    return without;
}

/* Before any other case, so that each child finds a process without labels. */
TEST(threads_that_push_the_first_labels_at_once_all_get_theirs)
{
    for (int i = 0; i < 60; i++) {
        int status = 0;
        pid_t child = fork();

        if (child == 0)
            _exit(push_at_once());
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
}

TEST(equal_sets_are_the_same_number)
{
    uint32_t a = labels_push(0, STR("request"), STR("7"));
    uint32_t b = labels_push(a, STR("user"), STR("ann"));

    EXPECT(a != 0 && b != 0 && a != b);
    EXPECT(labels_push(0, STR("request"), STR("7")) == a);
    EXPECT(labels_push(a, STR("user"), STR("ann")) == b);
    EXPECT(labels_push(0, STR("request"), STR("8")) != a);
    EXPECT(labels_push(0, STR("reques"), STR("t7")) != a);
    EXPECT(labels_list(0, list) == 0);
}

TEST(labels_come_sorted_and_the_inner_one_wins)
{
    uint32_t s = labels_push(0, STR("z"), STR("1"));

    s = labels_push(s, STR("a"), STR("outer"));
    s = labels_push(s, STR("m"), STR(""));
    s = labels_push(s, STR("a"), STR("inner"));
    EXPECT(labels_list(s, list) == 3);
    EXPECT(str_eq(list[0].key, STR("a")) &&
           str_eq(list[0].value, STR("inner")));
    EXPECT(str_eq(list[1].key, STR("m")) && list[1].value.n == 0);
    EXPECT(str_eq(list[2].key, STR("z")));
}

TEST(long_texts_are_cut_between_characters)
{
    char long_value[600];
    uint32_t s;

    memset(long_value, 'v', sizeof(long_value));
    memcpy(long_value + LABEL_VALUE_MAX - 1, "\xc3\xa9", 2);
    s = labels_push(0, str_of(long_value, 100), str_of(long_value, 600));
    EXPECT(labels_list(s, list) == 1);
    EXPECT(list[0].key.n == LABEL_KEY_MAX);
    EXPECT(list[0].value.n == LABEL_VALUE_MAX - 1);
}

TEST(a_tag_says_set_thread_and_state)
{
    struct label_tag t = {12345678, 4194303, STATE_LOCK}, u;

    u = label_tag_unpack(label_tag_pack(t));
    EXPECT(u.set == t.set && u.tid == t.tid && u.state == t.state);
    EXPECT(strcmp(label_state_name(STATE_LOCK), "lock") == 0);
    EXPECT(strcmp(label_state_name(200), "") == 0);
}

static size_t current(void)
{
    return labels_list(pprof_thread.labels, list);
}

TEST(push_and_pop_nest)
{
    pprof_label_mark outer = pprof_label_push("a", "1"), inner;

    EXPECT(current() == 1);
    inner = pprof_label_push("b", "2");
    EXPECT(current() == 2);
    pprof_label_pop(inner);
    EXPECT(current() == 1 && str_eq(list[0].key, STR("a")));
    pprof_label_pop(outer);
    EXPECT(current() == 0);
    outer = pprof_label_push("", "no key");
    EXPECT(current() == 0);
    pprof_label_pop(outer);
}

static jmp_buf out;

static void jump_out(void)
{
    PPROF_LABEL("depth", "inner");
    longjmp(out, 1);
}

static void labelled(void)
{
    PPROF_LABEL("depth", "outer");
    PPROF_LABEL("other", "x");
    jump_out();
}

TEST(who_was_left_by_longjmp_leaves_nothing_behind)
{
    pprof_label_mark mark = pprof_label_push("a", "1");

    if (setjmp(out) == 0)
        labelled();
    EXPECT(current() == 3);
    pprof_label_pop(mark);
    EXPECT(current() == 0);
}

TEST(a_block_has_its_labels_to_its_end)
{
    for (int i = 0; i < 3; i++) {
        PPROF_LABEL("block", "yes");
        EXPECT(current() == 1);
    }
    EXPECT(current() == 0);
}

static void *push_many(void *arg)
{
    char value[32];

    for (int i = 0; i < 20000; i++) {
        uint32_t s;

        snprintf(value, sizeof(value), "%d", i % 300);
        s = labels_push(0, STR("n"), str_from(value));
        s = labels_push(s, STR("m"), str_from(value));
        if (labels_list(s, (struct label[LABELS_MAX]){0}) != 2)
            return arg;
    }
    return NULL;
}

TEST(threads_share_sets)
{
    pthread_t threads[4];
    uint32_t a = labels_push(0, STR("n"), STR("5"));
    void *failed;

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, push_many, &threads);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        EXPECT(failed == NULL);
    }
    EXPECT(labels_push(0, STR("n"), STR("5")) == a);
}

/* Last, because it uses the memory up. */
TEST(more_values_than_memory_become_other)
{
    char value[32];
    uint32_t s = 0;

    for (int i = 0; i < 300000; i++) {
        snprintf(value, sizeof(value), "request %d", i);
        s = labels_push(0, STR("id"), str_from(value));
        EXPECT(s != 0);
    }
    EXPECT(labels_list(s, list) == 1);
    EXPECT(str_eq(list[0].value, STR("[other]")));
    EXPECT(labels_lost() == 0);
    /* What was there before still is. */
    EXPECT(labels_push(0, STR("id"), STR("request 5")) != s);
    /* Not even that has room: the labels below stay. */
    for (int i = 0; i < 300000; i++) {
        snprintf(value, sizeof(value), "key %d", i);
        EXPECT(labels_push(s, str_from(value), STR("x")) != 0);
    }
    EXPECT(labels_lost() > 0);
    EXPECT(labels_push(s, STR("new key"), STR("x")) == s);
}

TEST_MAIN
