#include "runtime/cpu/handlers.h"

#include <signal.h>

#include "runtime/cpu/sigprof.h"

bool handler_is_installed(int sig)
{
    struct sigaction now;

    sampler.sigaction(sig, NULL, &now);
    return (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == sigprof_on_signal;
}

void handler_install(int sig)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction now;

    ours.sa_sigaction = sigprof_on_signal;
    sigfillset(&ours.sa_mask);
    sampler.sigaction(sig, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == sigprof_on_signal)
        return;
    program_action_set(sig == SIGTRAP ? &sampler.old_trap : &sampler.old_prof,
                       &now);
    sampler.sigaction(sig, &ours, NULL);
}
