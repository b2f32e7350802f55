#ifndef RUNTIME_CPU_CPU_H
#define RUNTIME_CPU_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * The CPU profile.
 *
 *     if (!cpu_start(&(struct cpu_options){0}, &err)) …
 *     … the program runs …
 *     cpu_stop(CPU_ASKED, out, &err);   // the profile, gzip'd, appended to out
 *
 * Samples are taken while there is a reader.  There are three readers: a
 * requested profile (by a client or the program: one at a time, as in Go), the
 * file of the whole run, and the profiles pushed to a collector.  They do not
 * disturb each other, and each sample is taken once for all of them.
 *
 * The sampling thread (sampling_thread.h) chooses the source of samples: perf
 * events where they are allowed and cheap, else CPU timers;
 * PPROF_CPU_SOURCE=perf|perf-user|timer insists on one.  The profile's
 * comments say which it was and what was lost.
 */
#define CPU_RATE_DEFAULT 100
#define CPU_RATE_MAX     4000

enum cpu_reader { CPU_ASKED, CPU_RUN_FILE, CPU_PUSHED, CPU_READERS };

struct cpu_options {
    enum cpu_reader reader;
    int rate_hz;      /* 0: that of the other readers, else PPROF_CPU_RATE,
                         else 100 */
    bool tag_threads; /* labels thread and thread_id on every sample */
    bool timeline;    /* keep when each sample was: cpu_stop_trace() */
};

/* False: "cpu profiling already in use" ("execution tracer already enabled"
 * to a second timeline), or no source works. */
bool cpu_start(const struct cpu_options *options, struct error *err);

/* Ends the profile and writes it; NULL: discards it.  The next one can be
 * started as soon as sampling has ended, while this one is being written.
 * False: none was running, or the buf is full (the profile has ended in any
 * case). */
bool cpu_stop(enum cpu_reader reader, struct buf *out, struct error *err);

/* Writes what has been measured so far and goes on without a gap: the next
 * profile begins where this one ends. */
bool cpu_slice(enum cpu_reader reader, struct buf *out, struct error *err);

/* Ends a profile that was started with `timeline`: a Chrome/Perfetto JSON
 * trace of when which thread ran where. */
bool cpu_stop_trace(struct buf *out, struct error *err);

bool cpu_is_running(enum cpu_reader reader);

/* Samples in the reader's last profile or slice. */
uint64_t cpu_samples(enum cpu_reader reader);

/* Reads PPROF_CPU_RATE and PPROF_CPU_SOURCE, once; cpu_start calls it if
 * necessary. */
void cpu_read_environment(void);

/* PPROF_CPU_SOURCE=timer: perf events are not to be used. */
bool cpu_insists_on_timers(void);

/* In the child: nothing is sampled any more, the slot is free.  `locked`: as
 * sampling_thread_before_fork() said. */
void cpu_after_fork(bool locked);

#endif
