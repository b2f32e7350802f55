/*
 * Dumps of all threads: who sleeps, who runs, who cannot answer.
 */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "runtime/cpu/sigprof.h"
#include "runtime/own_thread.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/thread/threads.h"

static _Atomic int n_up;
static _Atomic bool stop;
static int never[2]; /* a pipe nobody writes to */

static void *sleeper(void *arg)
{
    char c;

    pthread_setname_np(pthread_self(), "sleeper");
    atomic_fetch_add(&n_up, 1);
    return read(never[0], &c, 1) < 0 ? NULL : arg;
}

static void *napper(void *arg)
{
    pthread_setname_np(pthread_self(), "napper");
    atomic_fetch_add(&n_up, 1);
    while (!atomic_load(&stop))
        usleep(10000000);
    return arg;
}

static void *spinner(void *arg)
{
    pthread_setname_np(pthread_self(), "spinner");
    atomic_fetch_add(&n_up, 1);
    while (!atomic_load(&stop))
        ;
    return arg;
}

static void *deaf(void *arg)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_setname_np(pthread_self(), "deaf");
    return sleeper(arg);
}

static void start(void *(*run)(void *))
{
    pthread_t thread;
    int before = atomic_load(&n_up);

    EXPECT(pthread_create(&thread, NULL, run, NULL) == 0);
    pthread_detach(thread);
    while (atomic_load(&n_up) == before)
        usleep(1000);
    usleep(20000); /* until it waits */
}

static const struct thread_info *find(const struct threads *t, const char *name)
{
    const struct thread_info *v = t->v.p;

    for (size_t i = 0; i < t->v.n; i++)
        if (strcmp(v[i].name, name) == 0)
            return &v[i];
    return NULL;
}

TEST(a_dump_knows_names_and_who_waits)
{
    const struct thread_info *info;
    struct threads t;
    struct error err;

    EXPECT(pipe(never) == 0);
    start(sleeper);
    start(napper);
    start(spinner);
    EXPECT(threads_dump(&t, &err));
    EXPECT(t.v.n == 4 && threads_count() == 4);
    info = find(&t, "sleeper");
    EXPECT(info && info->state == 'S' && info->has_stack && info->n >= 3);
    info = find(&t, "napper");
    EXPECT(info && info->state == 'S' && info->has_stack && info->n >= 3);
    info = find(&t, "spinner");
    EXPECT(info && info->state == 'R' && info->has_stack && info->n >= 2);
    EXPECT(info && info->end == UNWIND_COMPLETE);
    info = t.v.p;
    EXPECT(info->is_caller && info->state == 'R' && info->name[0]);
    threads_release(&t);
    atomic_store(&stop, true);
}

static void *deaf_spinner(void *arg)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    atomic_store(&stop, false);
    return spinner(arg);
}

/* Only a thread that runs must answer. */
TEST(a_thread_that_blocks_signals_has_no_stack_while_it_runs)
{
    const struct thread_info *v;
    struct threads t;
    struct error err;
    size_t without = 0;

    start(deaf);
    start(deaf_spinner);
    EXPECT(threads_dump(&t, &err));
    v = t.v.p;
    for (size_t i = 0; i < t.v.n; i++) {
        if (v[i].has_stack)
            continue;
        without++;
        EXPECT(v[i].state == 'R' && v[i].n == 0);
    }
    EXPECT(without == 1);
    threads_release(&t);
}

static _Atomic int n_pauses;

static void *pauser(void *arg)
{
    pthread_setname_np(pthread_self(), "pauser");
    for (;;) {
        atomic_fetch_add(&n_up, 1);
        pause();
        atomic_fetch_add(&n_pauses, 1);
    }
    return arg;
}

TEST(a_thread_in_pause_stays_there)
{
    const struct thread_info *info;
    struct threads t;
    struct error err;

    start(pauser);
    for (int i = 0; i < 20; i++) {
        EXPECT(threads_dump(&t, &err));
        info = find(&t, "pauser");
        EXPECT(info && info->state == 'S' && info->end == UNWIND_COMPLETE);
        threads_release(&t);
    }
    EXPECT(atomic_load(&n_pauses) == 0);
}

static void *labelled(void *arg)
{
    pthread_setname_np(pthread_self(), "labelled");
    pprof_thread.labels = labels_push(0, STR("job"), STR("waiting"));
    return sleeper(arg);
}

TEST(labels_of_a_thread_that_waits_are_known)
{
    struct label labels[LABELS_MAX];
    const struct thread_info *v;
    struct threads t;
    struct error err;
    size_t found = 0;

    start(labelled);
    EXPECT(threads_dump(&t, &err));
    v = t.v.p;
    for (size_t i = 0; i < t.v.n; i++)
        found += labels_list(v[i].labels, labels) == 1 &&
                 str_eq(labels[0].value, STR("waiting"));
    EXPECT(found == 1);
    threads_release(&t);
}

TEST(threads_of_ours_are_not_in_it)
{
    struct threads t;
    struct error err;
    size_t before;

    EXPECT(threads_dump(&t, &err));
    before = t.v.n;
    threads_release(&t);
    own_thread_enter();
    EXPECT(threads_dump(&t, &err));
    EXPECT(t.v.n + 1 == before);
    threads_release(&t);
    own_thread_leave();
}

TEST(equal_stacks_are_counted_together)
{
    const struct stack_record *r;
    struct stack_table table;
    int64_t total = 0, most = 0;
    struct threads t;
    struct error err;
    uint32_t at = 0;

    start(sleeper);
    start(sleeper);
    EXPECT(threads_dump(&t, &err));
    EXPECT(stack_table_init(&table, 64, 1 << 16));
    EXPECT(threads_aggregate(&t, false, &table));
    while ((r = stack_table_next(&table, &at)) != NULL) {
        total += r->values[0];
        most = r->values[0] > most ? r->values[0] : most;
    }
    EXPECT(total == (int64_t)t.v.n && most >= 2);
    stack_table_release(&table);
    threads_release(&t);
}

TEST(the_dump_in_words_has_a_paragraph_for_each_thread)
{
    struct buf out = BUF_INIT(1 << 20), small = BUF_INIT(50);
    struct str rest, line;
    struct threads t;
    struct error err;
    size_t n = 0;

    EXPECT(threads_dump(&t, &err));
    EXPECT(threads_write_text(&t, &out, &err));
    EXPECT(!threads_write_text(&t, &small, &err));
    rest = buf_str(&out);
    while (str_split(&rest, '\n', &line))
        n += str_has_prefix(line, STR("thread "));
    EXPECT(n == t.v.n);
    EXPECT(str_has_prefix(buf_str(&out), STR("thread ")));
    EXPECT(str_contains(buf_str(&out), STR("sleeper")));
    EXPECT(
        str_contains(buf_str(&out),
                     STR("[no stack: the thread runs and did not answer]\n")));
    buf_release(&out);
    buf_release(&small);
    threads_release(&t);
}

TEST_MAIN
