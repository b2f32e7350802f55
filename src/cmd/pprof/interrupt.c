#include "cmd/pprof/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;

static void note(int signal)
{
    (void)signal;
    noted = 1;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note};

    sigaction(SIGINT, &action, NULL);
}

bool interrupt_take(void)
{
    bool was = noted != 0;

    noted = 0;
    return was;
}

bool interrupt_wait_readable(int fd)
{
    struct pollfd poll = {.fd = fd, .events = POLLIN};
    sigset_t interrupt, before;
    bool interrupted;

    /* Blocked but while ppoll waits: none can slip in between the look and
     * the wait. */
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    while (!(interrupted = interrupt_take()) &&
           ppoll(&poll, 1, NULL, &before) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !interrupted;
}
