#include "test.h"

#include <signal.h>

#include "runtime/hook/signal_name.h"

TEST(a_signal_is_a_name_or_a_number)
{
    EXPECT(signal_number("USR2") == SIGUSR2);
    EXPECT(signal_number("SIGUSR2") == SIGUSR2);
    EXPECT(signal_number("HUP") == SIGHUP);
    EXPECT(signal_number("12") == 12);
    EXPECT(signal_number("1") == 1);
    EXPECT(signal_number("64") == 64);
}

TEST(what_is_no_signal_is_refused)
{
    static const char *const wrong[] = {"",     "FOO", "SIG",
                                        "usr2", "0",   "65",
                                        "-1",   "12x", "18446744073709551617"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        EXPECT(signal_number(wrong[i]) == 0);
}

TEST(signals_with_another_meaning_are_refused)
{
    static const int taken[] = {SIGKILL, SIGSTOP, SIGPROF, SIGTRAP, SIGURG,
                                SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,
                                SIGCHLD, SIGCONT, 32,      33};
    int free_ones = 0;

    for (int sig = 1; sig <= 64; sig++) {
        bool is_taken = false;
        char text[8];

        for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
            is_taken = is_taken || taken[i] == sig;
        snprintf(text, sizeof(text), "%d", sig);
        EXPECT(signal_number(text) == (is_taken ? 0 : sig));
        free_ones += !is_taken;
    }
    EXPECT(free_ones == 50);
    EXPECT(signal_number("KILL") == 0 && signal_number("PROF") == 0);
}

TEST_MAIN
