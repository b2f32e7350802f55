#ifndef RUNTIME_CPU_H
#define RUNTIME_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * The CPU profile: one at a time in a process, as in Go.
 *
 *     if (!cpu_start(&(struct cpu_options){0}, &err)) …
 *     … the program runs …
 *     cpu_stop(out, &err);     // the profile, gzip'd, appended to out
 *
 * The source of samples is chosen by the keeper (keeper.h): perf events where
 * they are allowed and cheap, else CPU timers; PPROF_CPU_SOURCE=perf|
 * perf-user|timer insists on one.  The profile's comments say which it was and
 * what was lost.
 */
#define CPU_RATE_DEFAULT 100
#define CPU_RATE_MAX     4000

struct cpu_options {
    int rate_hz;      /* 0: PPROF_CPU_RATE, else 100 */
    bool tag_threads; /* labels thread and thread_id on every sample */
    bool timeline;    /* keep when each sample was: cpu_stop_trace() */
};

/* False: "cpu profiling already in use" ("execution tracer already enabled"
 * to a second timeline), or no source works. */
bool cpu_start(const struct cpu_options *options, struct error *err);

/* Ends the profile and writes it; NULL: nobody wants it.  False: none was
 * running, or the buf is full (the profile is over in any case). */
bool cpu_stop(struct buf *out, struct error *err);

/* Ends a profile that was started with `timeline`: a Chrome/Perfetto JSON
 * trace of when which thread ran where. */
bool cpu_stop_trace(struct buf *out, struct error *err);

bool cpu_is_running(void);

/* Reads PPROF_CPU_RATE and PPROF_CPU_SOURCE, once; cpu_start does it if
 * nobody has. */
void cpu_read_environment(void);

/* In the child: nothing is sampled any more, the slot is free. */
void cpu_after_fork(bool is_whole);

#endif
