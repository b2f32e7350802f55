/*
 * The stacks that called pthread_create, where that is wrapped: each once,
 * with a count.  Threads of ours are not the program's doing.
 */
#include <stdatomic.h>

#include "runtime/cpu/sigprof.h"
#include "runtime/state.h"
#include "runtime/thread/threads.h"

static struct stack_table created;
static _Atomic uint64_t n_created;

bool threads_watch_creation(void)
{
    return created.arena || stack_table_init(&created, 4096, 4u << 20);
}

bool threads_watches_creation(void)
{
    return created.arena != NULL;
}

void threads_note_creation(void)
{
    uint64_t pcs[UNWIND_MAX_FRAMES];
    struct stack_record *r;
    size_t n;

    if (pprof_thread.is_own)
        return;
    atomic_fetch_add(&n_created, 1);
    if (!created.arena || !runtime.is_ready)
        return;
    n = sigprof_stack_here(pcs, 2); /* without this and the hook */
    r = stack_table_add(&created, pcs, n, 0);
    if (r)
        stack_record_count(r, 0, 1);
}

uint64_t threads_n_created(void)
{
    return atomic_load(&n_created);
}

bool threads_copy_created(struct stack_table *out)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while (created.arena && (r = stack_table_next(&created, &at)) != NULL) {
        struct stack_record *to = stack_table_add(out, r->pcs, r->n, r->tag);

        if (!to)
            return false;
        stack_record_count(to, 0, atomic_load(&r->values[0]));
    }
    return true;
}
