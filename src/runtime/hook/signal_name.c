/*
 * Used by the library and by pprof-run, so that both accept the same signals.
 */
#include "runtime/hook/signal_name.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"

static int by_name(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"HUP", SIGHUP},
                 {"WINCH", SIGWINCH}, {"ALRM", SIGALRM}, {"IO", SIGIO},
                 {"QUIT", SIGQUIT}};

    if (strncmp(text, "SIG", 3) == 0)
        text += 3;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, text) == 0)
            return names[i].number;
    return 0;
}

static int is_free(int sig)
{
    static const int taken[] = {SIGKILL, SIGSTOP, SIGPROF, SIGTRAP, SIGURG,
                                SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,
                                SIGCHLD, SIGCONT, 32,      33};

    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (taken[i] == sig)
            return 0;
    return 1;
}

int signal_number(const char *text)
{
    uint64_t n;

    if (!str_to_u64(str_from(text), 10, &n))
        return by_name(text);
    return n > 0 && n <= 64 && is_free((int)n) ? (int)n : 0;
}
