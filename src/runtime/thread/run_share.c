#include "runtime/thread/run_share.h"

#include <stdbool.h>

#include "runtime/thread/thread_labels.h"
#include "runtime/thread/threads.h"

#define WHOLE 1000

unsigned run_share_next(struct run_share *s, int64_t ran_ns, int64_t waited_ns,
                        unsigned guess)
{
    bool is_first = s->ran_ns == 0 && s->waited_ns == 0;
    int64_t ran = ran_ns - s->ran_ns, waited = waited_ns - s->waited_ns;

    s->ran_ns = ran_ns;
    s->waited_ns = waited_ns;
    if (is_first || ran < 0 || waited < 0 || ran + waited == 0)
        return guess;
    s->credit += ran * WHOLE / (ran + waited);
    if (s->credit < WHOLE / 2)
        return STATE_RUNNABLE;
    s->credit -= WHOLE;
    return STATE_RUNNING;
}

unsigned run_share_state(struct run_share *s, int tid, int64_t time_ns,
                         int64_t cpu_ns, unsigned guess)
{
    int64_t time = time_ns - s->time_ns, cpu = cpu_ns - s->cpu_ns;
    bool is_first = s->time_ns == 0;
    int64_t ran_ns, waited_ns;

    s->time_ns = time_ns;
    s->cpu_ns = cpu_ns;
    /* The scheduler's numbers cost more than the look: who has run nearly all
     * of the time is not asked about. */
    if (!is_first && cpu >= time / 10 * 9) {
        s->ran_ns += s->ran_ns ? cpu : 0;
        return STATE_RUNNING;
    }
    if (!threads_times(tid, &ran_ns, &waited_ns))
        return guess;
    return run_share_next(s, ran_ns, waited_ns, guess);
}
