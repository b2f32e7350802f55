#ifndef RUNTIME_HOOK_SIGNAL_NAME_H
#define RUNTIME_HOOK_SIGNAL_NAME_H

/*
 * The signal that starts and stops a profile: "USR2", "SIGUSR2" or "12".
 * Returns its number, or 0 for a text that names no signal, or one that
 * cannot be handled or has another meaning (SIGKILL, SIGSTOP, SIGPROF,
 * SIGTRAP, faults).
 */
int signal_number(const char *text);

#endif
