/*
 * What signal() is in a program that is compiled as strict ISO C
 * (-std=c11 and nothing else): a handler for one call.
 */
#include <errno.h>
#include <signal.h>

#include "pprof/pprof.h"
#include "runtime/own_code.h"

typedef void handler_fn(int);

PPROF_API OWN_WRAPPER handler_fn *sysv_signal(int sig, handler_fn *handler)
{
    struct sigaction once = {.sa_handler = handler,
                             .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    struct sigaction was;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(sig, &once, &was) == 0 ? was.sa_handler : SIG_ERR;
}

PPROF_API OWN_WRAPPER handler_fn *__sysv_signal(int sig, handler_fn *handler)
{
    return sysv_signal(sig, handler);
}
