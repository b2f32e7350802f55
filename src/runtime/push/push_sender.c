/*
 * Sends what the queue has, one profile at a time.  Back-off belongs to the
 * collector and not to a profile: one that is down is asked less and less
 * often, however many profiles wait.
 */
#include "runtime/push/push_state.h"

#include <stdio.h>

#include "base/clock.h"
#include "runtime/push/push_dumps.h"
#include "runtime/rawcall.h"
#include "runtime/say.h"

#define CALL_NS         (30 * SECOND)
#define BACK_OFF_NS     (5 * SECOND)
#define MAX_BACK_OFF_NS (120 * SECOND)
#define MAX_RETRY_NS    (600 * SECOND) /* what a collector may ask for */
#define MAX_ATTEMPTS    10
#define SAY_AGAIN_NS    (600 * SECOND)

/* Profiles are sent a little later than they are taken, so that a fleet that
 * takes them at the same moment does not send them so. */
#define SPREAD_PERCENT 5

static struct {
    unsigned failures;     /* in a row */
    int64_t not_before_ns; /* the next attempt */
    int64_t said_ns;       /* when a failure was last reported; 0: never */
    /* At the end there is one attempt: who fails once fails for all. */
    bool has_given_up;
} sender;

static bool is_finishing(void)
{
    return atomic_load(&push.phase) != PUSH_ON;
}

/* One line for an outage, however long it is. */
static void report(const char *type, enum push_result result,
                   const struct error *err)
{
    int64_t now = clock_monotonic_ns();
    bool is_due = sender.said_ns == 0 || now - sender.said_ns > SAY_AGAIN_NS;

    if (!push.options.verbose &&
        (push.options.quiet || !is_due || sender.failures > 1))
        return;
    sender.said_ns = now;
    if (result == PUSH_REFUSED)
        say_note("the collector %s refuses the %s profile: %s",
                 push.options.target.shown, type, err->text);
    else
        say_note("cannot push the %s profile to %s: %s%s", type,
                 push.options.target.shown, err->text,
                 is_finishing() ? "" : "; will try again");
}

static void back_off(int64_t retry_after_ns)
{
    int64_t ns = sender.failures * BACK_OFF_NS;

    ns = push_jitter(ns < MAX_BACK_OFF_NS ? ns : MAX_BACK_OFF_NS, 80, 120);
    if (retry_after_ns > MAX_RETRY_NS)
        retry_after_ns = MAX_RETRY_NS;
    sender.not_before_ns =
        clock_monotonic_ns() + (ns > retry_after_ns ? ns : retry_after_ns);
}

static void drop(struct push_profile *p)
{
    pthread_mutex_lock(&push.lock);
    push_queue_free(&push.queue, p);
    pthread_mutex_unlock(&push.lock);
}

static void retry(struct push_profile *p)
{
    pthread_mutex_lock(&push.lock);
    if (is_finishing()) {
        push_queue_free(&push.queue, p);
        sender.has_given_up = true;
    } else if (++p->attempts >= MAX_ATTEMPTS) {
        push_queue_free(&push.queue, p);
        push.queue.lost++;
    } else {
        push_queue_return(&push.queue, p);
    }
    pthread_mutex_unlock(&push.lock);
}

static enum push_result send_one(const struct push_profile *p,
                                 int64_t *retry_after_ns, struct error *err)
{
    int64_t now = clock_monotonic_ns();
    enum push_result result;

    atomic_store(&push.sending_since_ns, now);
    result = push_send(&push.options.target,
                       &(struct push_request){
                           .type = p->type,
                           .note = p->note[0] ? p->note : NULL,
                           .profile = p->bytes,
                           .deadline_ns = is_finishing()
                                              ? atomic_load(&push.finish_by_ns)
                                              : now + CALL_NS,
                       },
                       retry_after_ns, err);
    atomic_store(&push.sending_since_ns, 0);
    return result;
}

static void send_and_settle(struct push_profile *p)
{
    int64_t retry_after_ns = 0;
    struct error err = {""};
    enum push_result result = send_one(p, &retry_after_ns, &err);

    atomic_store(&push.is_failing, result == PUSH_LATER);
    if (result == PUSH_STORED) {
        sender.failures = 0;
        sender.not_before_ns = 0;
        if (p->path[0])
            push_dumps_mark_sent(p->path);
        if (push.options.verbose)
            say_note("pushed a %s profile of %zu bytes", p->type, p->bytes.n);
    } else {
        sender.failures += result == PUSH_LATER || sender.failures == 0;
        report(p->type, result, &err);
    }
    if (result != PUSH_LATER) {
        drop(p);
        return;
    }
    back_off(retry_after_ns);
    retry(p);
}

/* Waits for its moment; the end of the program does not wait. */
static void wait_for_turn(void)
{
    int64_t spread = push_jitter(push.options.interval_ns, 0, SPREAD_PERCENT);
    int64_t until = clock_monotonic_ns() + spread;

    if (sender.not_before_ns > until)
        until = sender.not_before_ns;
    push_sleep_until(&push.sender_wake, until);
}

static struct push_profile *take(void)
{
    struct push_profile *p;

    pthread_mutex_lock(&push.lock);
    p = push_queue_take(&push.queue);
    pthread_mutex_unlock(&push.lock);
    return p;
}

static bool has_any(void)
{
    bool any;

    pthread_mutex_lock(&push.lock);
    any = push.queue.first != NULL;
    pthread_mutex_unlock(&push.lock);
    return any;
}

/* False: the end has come, and nothing is left to do. */
static bool wait_for_profile(void)
{
    for (;;) {
        uint32_t seen = atomic_load(&push.sender_wake);
        uint32_t phase = atomic_load(&push.phase);

        if (phase == PUSH_DONE)
            return false;
        if (has_any())
            return true;
        if (phase == PUSH_TAKEN)
            return false;
        raw_futex_wait(&push.sender_wake, seen, 0);
    }
}

void *push_sender(void *arg)
{
    struct push_profile *p;

    (void)arg;
    sender.failures = 0;
    sender.not_before_ns = sender.said_ns = 0;
    sender.has_given_up = false;
    push_dumps_find();
    while (wait_for_profile()) {
        wait_for_turn();
        if (atomic_load(&push.phase) == PUSH_DONE)
            break;
        p = take();
        if (p && sender.has_given_up)
            drop(p);
        else if (p)
            send_and_settle(p);
    }
    pthread_mutex_lock(&push.lock);
    push_queue_clear(&push.queue);
    pthread_mutex_unlock(&push.lock);
    atomic_fetch_sub(&push.threads, 1);
    atomic_store(&push.phase, PUSH_DONE);
    raw_futex_wake_all(&push.phase);
    return NULL;
}
