#ifndef RUNTIME_ENV_H
#define RUNTIME_ENV_H

/*
 * What the environment asks of a preloaded library.
 *
 *   PPROF_CPUPROFILE=FILE        CPU profile of the whole run, written when
 *                                the program ends; "%p" is the process id
 *   PPROF_CPUPROFILE_SIGNAL=N    don't start at once: signal N (a number, or
 *                                USR1, USR2, HUP) starts and stops it, each
 *                                time into FILE.0, FILE.1, …
 *   PPROF_ADDR=ADDRESS           serve /debug/pprof/ there
 *   PPROF_INSECURE=1             … also where other machines can reach it
 *   PPROF_CPU_RATE=HZ            samples a CPU second, 1 to 4000
 *   PPROF_BLOCK_RATE=NS          waits of NS nanoseconds and more are in the
 *                                block profile, of shorter ones as many as
 *                                fit; 1: all, 0: none
 *   PPROF_MUTEX_FRACTION=N       one contended unlock in N is in the mutex
 *                                profile; 1: all, 0: none
 *   PPROF_CHILDREN=1             programs that this one starts are profiled
 *                                too (FILE gets their process id at its
 *                                end); else they do not see any of this
 *   PPROF_DEBUG=1                say on stderr what happens
 *
 * Called once from the library's constructor.
 */
void env_start(void);

/* Ends what env_start began; from the destructor. */
void env_stop(void);

#endif
