#ifndef RUNTIME_HOOK_OWN_SIGNALS_H
#define RUNTIME_HOOK_OWN_SIGNALS_H

#include <stdbool.h>

/*
 * Has the program set an action of its own for SIGPROF or SIGTRAP, which
 * samples come with?  Async-signal-safe.  (thread_hooks.c)
 */
bool own_signal_is_programs(int sig);

#endif
