#ifndef RUNTIME_CPU_HANDLERS_H
#define RUNTIME_CPU_HANDLERS_H

#include <stdbool.h>

/*
 * Our handler for SIGPROF (CPU timers) and SIGTRAP (perf events).
 *
 * Once installed it stays: a signal that is on its way when its timer or event
 * ends would otherwise reach the program's handler, or end the program.  It
 * passes on what is not ours.
 */
void handler_install(int sig); /* does nothing if it is there already */

/* False when the program has set another handler since. */
bool handler_is_installed(int sig);

#endif
