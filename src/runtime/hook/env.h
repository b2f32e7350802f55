#ifndef RUNTIME_HOOK_ENV_H
#define RUNTIME_HOOK_ENV_H

#include <stdbool.h>

/*
 * What the environment asks of a preloaded library.
 *
 *   PPROF_CPUPROFILE=FILE        CPU profile of the whole run, written when
 *                                the program ends; "%p" is the process id
 *   PPROF_CPUPROFILE_SIGNAL=N    don't start at once: signal N (a number, or
 *                                USR1, USR2, HUP) starts and stops it, each
 *                                time into FILE.0, FILE.1, …
 *   PPROF_ADDR=ADDRESS           serve /debug/pprof/ there
 *   PPROF_QUIET=1                … and print no line that says so
 *   PPROF_INSECURE=1             … also where other machines can reach it,
 *                                without authentication or in the clear
 *   PPROF_TLS_CERT, PPROF_TLS_KEY  PEM files: serve it by TLS
 *   PPROF_CLIENT_CA=FILE         to those whose certificate it has signed
 *   PPROF_CLIENT_ALLOW=NAMES     … and has one of these names
 *                                (http/certificate.h)
 *   PPROF_TOKEN_FILE=FILE        or to those who have a secret of this file
 *                                (http/tokens.h)
 *   PPROF_KUBERNETES=1           or to those whom the cluster lets read the
 *                                URL (http/review.h)
 *   PPROF_HOSTS=NAMES            names that a Host header may have, besides
 *                                addresses and localhost (http/host.h)
 *   PPROF_UNIX_MODE=OCTAL        of a unix socket's file: 600
 *   PPROF_MAX_SECONDS=N          the longest profile: 300
 *   PPROF_MAX_REPLY_MB=N         the largest reply: 256
 *   PPROF_MAX_CONNECTIONS=N      at a time: 64
 *   PPROF_MAX_REQUESTS=N         of one client, a minute: 600; 0 no limit
 *   PPROF_MAX_CPU=PERCENT        of one CPU, for requests and again for what
 *                                they ask for: 2; 0 no limit
 *   PPROF_AUDIT=PLACE            a line for each profile: off, stderr or a
 *                                file.  stderr where somebody is asked who he
 *                                is, else off
 *   PPROF_COLLECTOR=URL          push profiles there; PPROF_PUSH,
 *                                PPROF_PUSH_INTERVAL, _SECONDS, _EXIT and
 *                                _MEMORY say what, how often and how much
 *                                (push_options.h), PPROF_SERVICE and
 *                                PPROF_LABELS under which name
 *                                (push_labels.h), PPROF_COLLECTOR_CA, _CERT,
 *                                _KEY and _TOKEN_FILE how to be let in
 *   PPROF_CPU_RATE=HZ            samples a CPU second, 1 to 4000
 *   PPROF_HEAPPROFILE=FILE       heap profile, written when the program ends:
 *                                what is in use then, what was in use at the
 *                                peak, and all that was allocated
 *   PPROF_HEAP_INTERVAL=SECONDS  also write it this often, to FILE.1, FILE.2 …
 *   PPROF_MEM_RATE=BYTES         on average, one sample per BYTES bytes,
 *                                524288; 1: all, 0: none.  Without it memory
 *                                is sampled only if something else asks for
 *                                it: PPROF_ADDR, PPROF_HEAPPROFILE,
 *                                PPROF_HEAP_DUMP_AT
 *   PPROF_HEAP_DUMP_AT=90%       a heap profile when so much of the memory
 *                                limit is used (heap_limit.h)
 *   PPROF_BLOCK_RATE=NS          waits of NS nanoseconds and more are in the
 *                                block profile, of shorter ones as many as
 *                                fit; 1: all, 0: none
 *   PPROF_MUTEX_FRACTION=N       one contended unlock in N is in the mutex
 *                                profile; 1: all, 0: none
 *   PPROF_BLOCKPROFILE=FILE      what there is of these profiles when the
 *   PPROF_MUTEXPROFILE=FILE      program ends; without a rate everything is
 *                                recorded
 *   PPROF_WALLPROFILE=FILE       wall profile of the whole run
 *   PPROF_SYMBOL_MEMORY=MB       what lines may cost while they are looked up:
 *                                64; 0: function names only (line_lookup.h)
 *   PPROF_CHILDREN=1             child processes are profiled too, whether
 *                                forked or started (FILE gets their process
 *                                id at its end); else they see none of this
 *   PPROF_EXECS=N                set by us: how often this process has become
 *                                another program by exec
 *   PPROF_DEBUG=1                say on stderr what happens
 *
 * "When the program ends" is a return from main, exit, quick_exit, _exit or
 * _Exit, a signal that ends it (end_signals.h), exec (which writes FILE.exec1
 * and so on, run_files.h) and daemon(3).  After SIGKILL there is no file.
 *
 * A request that cannot be fulfilled is reported in one line on stderr.
 *
 * Called once from the library's constructor.
 */
void env_start(void);

/* Is this the process that is profiled?  False in a child after vfork, and
 * after a fork unless child processes are profiled.  Async-signal-safe. */
bool env_is_profiled(void);

/* The program calls _exit, perhaps in a signal handler that interrupted
 * anything.  Async-signal-safe. */
void env_exit(void);

/* Ends what env_start began; from the destructor. */
void env_stop(void);

#endif
