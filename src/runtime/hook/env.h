#ifndef RUNTIME_HOOK_ENV_H
#define RUNTIME_HOOK_ENV_H

#include <stdbool.h>

/*
 * The environment variables of a preloaded library.
 *
 *   PPROF_CPUPROFILE=FILE        CPU profile of the whole run, written when
 *                                the program ends; "%p" is the process id
 *   PPROF_CPUPROFILE_SIGNAL=N    do not start at once: signal N (a number, or
 *                                USR1, USR2, HUP) starts and stops it, each
 *                                time into FILE.0, FILE.1, …
 *   PPROF_ADDR=ADDRESS           serve /debug/pprof/ at this address
 *   PPROF_QUIET=1                do not print the endpoint's URL
 *   PPROF_INSECURE=1             allow an address that other machines can
 *                                reach without authentication, and tokens
 *                                over unencrypted connections
 *   PPROF_TLS_CERT, PPROF_TLS_KEY  PEM files: serve HTTPS
 *   PPROF_CLIENT_CA=FILE         accept certificates signed by this CA
 *   PPROF_CLIENT_ALLOW=NAMES     of those, only certificates with these names
 *                                (http/tls/certificate.h)
 *   PPROF_TOKEN_FILE=FILE        accept secrets from this file
 *                                (http/access/tokens.h)
 *   PPROF_KUBERNETES=1           accept clients whom the cluster allows to
 *                                read the URL (http/access/kube_review.h)
 *   PPROF_HOSTS=NAMES            names allowed in the Host header, besides
 *                                addresses and localhost (http/server/host.h)
 *   PPROF_UNIX_MODE=OCTAL        mode of a Unix socket: 600
 *   PPROF_MAX_SECONDS=N          longest profile: 300
 *   PPROF_MAX_REPLY_MB=N         largest reply: 256
 *   PPROF_MAX_CONNECTIONS=N      simultaneous connections: 64
 *   PPROF_MAX_REQUESTS=N         requests per client per minute: 600; 0: no
 *                                limit
 *   PPROF_MAX_CPU=PERCENT        of one CPU, for requests and again for the
 *                                requested profiles: 2; 0: no limit
 *   PPROF_AUDIT=PLACE            a line for each profile: off, stderr or a
 *                                file.  The default is stderr if
 *                                authentication is enabled, else off
 *   PPROF_COLLECTOR=URL          push profiles to this collector.
 *                                PPROF_PUSH, PPROF_PUSH_INTERVAL, _SECONDS,
 *                                _EXIT and _MEMORY: push_options.h;
 *                                PPROF_SERVICE and PPROF_LABELS:
 *                                push_labels.h; PPROF_COLLECTOR_CA, _CERT,
 *                                _KEY and _TOKEN_FILE: credentials
 *   PPROF_CPU_RATE=HZ            samples per CPU second, 1 to 4000
 *   PPROF_HEAPPROFILE=FILE       heap profile, written when the program ends:
 *                                memory in use then, memory in use at the
 *                                peak, and all that was allocated
 *   PPROF_HEAP_INTERVAL=SECONDS  also write it this often, to FILE.1, FILE.2 …
 *   PPROF_MEM_RATE=BYTES         on average, one sample per BYTES bytes,
 *                                524288; 1: all, 0: none.  Without it memory
 *                                is sampled only if PPROF_ADDR,
 *                                PPROF_HEAPPROFILE or PPROF_HEAP_DUMP_AT is
 *                                set
 *   PPROF_HEAP_DUMP_AT=90%       a heap profile when this much of the memory
 *                                limit is used (heap_limit.h)
 *   PPROF_BLOCK_RATE=NS          record every wait of NS nanoseconds or more,
 *                                and a random sample of shorter ones; 1: all,
 *                                0: none
 *   PPROF_MUTEX_FRACTION=N       record one contended unlock in N; 1: all,
 *                                0: none
 *   PPROF_BLOCKPROFILE=FILE      these profiles, written when the program
 *   PPROF_MUTEXPROFILE=FILE      ends; without a rate everything is recorded
 *   PPROF_WALLPROFILE=FILE       wall profile of the whole run
 *   PPROF_SYMBOL_MEMORY=MB       memory for looking up lines: 64; 0: function
 *                                names only (line_lookup.h)
 *   PPROF_CHILDREN=1             also profile child processes, whether forked
 *                                or started (their process id is appended to
 *                                FILE); otherwise they do not get these
 *                                variables
 *   PPROF_EXECS=N                set by us: how often this process has become
 *                                another program by exec
 *   PPROF_DEBUG=1                report events on stderr
 *
 * "When the program ends" is a return from main, exit, quick_exit, _exit or
 * _Exit, a signal that ends it (end_signals.h), exec (which writes FILE.exec1
 * and so on, run_files.h) and daemon(3).  After SIGKILL there is no file.
 *
 * A profile that cannot be taken is reported in one line on stderr.
 *
 * Called once from the library's constructor.
 */
void env_start(void);

/* Returns true if this process is profiled.  False in a child after vfork, and
 * after a fork unless child processes are profiled.  Async-signal-safe. */
bool env_is_profiled(void);

/* The program calls _exit, perhaps in a signal handler that interrupted
 * anything.  Async-signal-safe. */
void env_exit(void);

/* Ends what env_start began; from the destructor. */
void env_stop(void);

#endif
