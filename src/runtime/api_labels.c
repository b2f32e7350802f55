/*
 * The functions of <pprof/pprof.h> that label what the calling thread does.
 * They change one word of its thread-local state.
 */
#include "pprof/pprof.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/thread/thread_labels.h"

pprof_label_mark pprof_label_push(const char *key, const char *value)
{
    uint32_t before = pprof_thread.labels;

    if (key && *key)
        pprof_thread.labels =
            labels_push(before, str_from(key), str_from(value ? value : ""));
    return before;
}

void pprof_label_pop(pprof_label_mark mark)
{
    pprof_thread.labels = mark;
}

void pprof_label_leave(const pprof_label_mark *mark)
{
    pprof_label_pop(*mark);
}
