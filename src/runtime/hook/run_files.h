#ifndef RUNTIME_HOOK_RUN_FILES_H
#define RUNTIME_HOOK_RUN_FILES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Profiles of a whole run of the program, each written to the file that the
 * environment names (PPROF_CPUPROFILE and so on, see env.h).
 *
 * How a file is called, for PPROF_CPUPROFILE=cpu.pb.gz:
 *
 *     cpu.pb.gz        the profile of the run
 *     cpu.pb.gz.4711   the same of process 4711, if child processes are
 *                      profiled; "%p" in the name puts the id elsewhere
 *     cpu.pb.gz.0      the first profile between two signals
 *                      (PPROF_CPUPROFILE_SIGNAL)
 *     heap.pb.gz.1     the first heap profile after PPROF_HEAP_INTERVAL
 *     cpu.pb.gz.exec1  what the process did before it replaced itself by
 *                      exec for the first time
 *
 * A relative name belongs to the directory in which the program started.
 *
 * One thread at a time may call these functions: the constructor first, then
 * the writer's thread (run_writer.h).  They write one line on stderr for
 * every profile that cannot be taken or written, or that is empty.
 */
void run_files_read_environment(bool children, bool is_verbose);

/* The process has forked a child that is not profiled. */
void run_files_note_fork(void);

/* Returns true if the environment names any file. */
bool run_files_any(void);

/* Starts what needs to be started; with `toggles` the CPU profile waits for
 * run_files_toggle(). */
void run_files_start(bool toggles);

/* Starts the CPU profile, or stops and writes it. */
void run_files_toggle(void);

enum run_moment {
    RUN_ENDS,     /* the process ends */
    RUN_EXECS,    /* the process is about to become another program */
    RUN_DETACHES, /* the process is about to go on in a child, daemon(3) */
};

/* Ends every profile and writes its file; unless the process ends, only those
 * profiles that have samples.  `next` is the program that follows, or NULL. */
void run_files_write(enum run_moment moment, const char *next);

/* The time between heap profiles that are written while the program runs, 0
 * if there are none, and writing one. */
int64_t run_files_interval_ns(void);
void run_files_write_heap(void);

/* The number of programs that this process has been: 0 for the first. */
unsigned run_files_execs(void);

/* Starts again what run_files_write() has ended, or what was running in the
 * parent of a forked child. */
void run_files_restart(void);

#endif
