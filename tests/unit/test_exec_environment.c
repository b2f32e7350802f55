#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/hook/exec_environment.h"

extern char **environ;

static int count(char *const *envp, const char *entry)
{
    int n = 0;

    for (; envp && *envp; envp++)
        n += strcmp(*envp, entry) == 0;
    return n;
}

static int length(char *const *envp)
{
    int n = 0;

    while (envp && envp[n])
        n++;
    return n;
}

/* The three calls belong together: what is kept once is put back later. */
TEST(our_part_is_hidden_and_put_back_before_exec)
{
    char preload[] = "LD_PRELOAD=/opt/libpprof-preload.so:/lib/other.so";
    char setting[] = "PPROF_CPU_PROFILE=cpu.pb.gz", execs[] = "PPROF_EXECS=7";
    char root[] = "HOME=/root", home[] = "HOME=/home", path[] = "PATH=/bin";
    char other[] = "PPROF_CPU_PROFILE=other.pb.gz";
    char *at_start[] = {preload, setting, execs, root, NULL};
    char *plain[] = {home, path, NULL}, *own[] = {other, NULL};
    char **before = environ;
    char **made;

    environ = at_start;
    exec_environment_keep(true);
    EXPECT(length(environ) == 2);
    EXPECT(count(environ, "HOME=/root") == 1);
    EXPECT(count(environ, "LD_PRELOAD=/lib/other.so") == 1);
    environ = before;

    made = exec_environment_make(plain, 3);
    EXPECT(made != NULL);
    EXPECT(count(made, "HOME=/home") == 1 && count(made, "PATH=/bin") == 1);
    EXPECT(count(made, "PPROF_CPU_PROFILE=cpu.pb.gz") == 1);
    EXPECT(count(made, "PPROF_EXECS=3") == 1);
    EXPECT(count(made, "PPROF_EXECS=7") == 0);
    EXPECT(count(made, "LD_PRELOAD=/opt/libpprof-preload.so") == 1);
    EXPECT(length(made) == 5);
    exec_environment_release(made);

    /* What the program sets itself stays. */
    made = exec_environment_make(own, 0);
    EXPECT(count(made, "PPROF_CPU_PROFILE=other.pb.gz") == 1);
    EXPECT(count(made, "PPROF_CPU_PROFILE=cpu.pb.gz") == 0);
    exec_environment_release(made);
}

TEST_MAIN
