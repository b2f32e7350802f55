/*
 * pprof-run: starts a program with libpprof-preload.so in it.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: pprof-run [options] PROGRAM [ARGUMENT...]\n"
    "Runs PROGRAM with profiling switched on, without changing it.\n"
    "\n"
    "  -addr ADDRESS      serve /debug/pprof/ there: 127.0.0.1:6060, :0 for\n"
    "                     any free port, unix:/path  (PPROF_ADDR)\n"
    "  -cpuprofile FILE   CPU profile of the whole run; %p is the process id\n"
    "                     (PPROF_CPUPROFILE)\n"
    "  -heapprofile FILE  heap profile, written at the end; %p as above\n"
    "                     (PPROF_HEAPPROFILE)\n"
    "  -memrate BYTES     one allocation in so many bytes is sampled: 524288;\n"
    "                     1 all, 0 none (PPROF_MEM_RATE)\n"
    "  -blockprofile FILE, -mutexprofile FILE  what threads waited for, and\n"
    "                     who made them wait (PPROF_BLOCKPROFILE, ...)\n"
    "  -blockrate NS      waits of so long and more are all recorded: 1 all,\n"
    "                     0 none (PPROF_BLOCK_RATE)\n"
    "  -mutexfraction N   one release in so many is recorded: 1 all, 0 none\n"
    "                     (PPROF_MUTEX_FRACTION)\n"
    "  -wallprofile FILE  where threads are, running or not\n"
    "                     (PPROF_WALLPROFILE)\n"
    "  -signal SIGNAL     don't profile at once: SIGNAL (USR2, 12 ...) starts\n"
    "                     and stops, into FILE.0, FILE.1 ...\n"
    "  -rate HZ           samples a CPU second, 1 to 4000 (PPROF_CPU_RATE)\n"
    "  -source SOURCE     what makes the samples: perf, perf-user, timer\n"
    "                     (PPROF_CPU_SOURCE; the best that works by itself)\n"
    "  -children          profile what PROGRAM starts, too (PPROF_CHILDREN)\n"
    "  -v                 say on stderr what happens (PPROF_DEBUG)\n"
    "  -version           print the version\n"
    "\n"
    "Who may read what is served (PPROF_ and the name in capitals):\n"
    "  -tls-cert FILE -tls-key FILE  serve it by TLS; PEM files, read again\n"
    "                     when they change\n"
    "  -client-ca FILE    to clients with a certificate signed by it\n"
    "  -client-allow NAMES  … and with one of these names: CN, DNS:..., URI\n"
    "  -token-file FILE   to clients with a secret of it: a line is a token\n"
    "                     or user:password; http://user:password@host works\n"
    "  -kubernetes        to those whom the cluster lets read the URL\n"
    "  -hosts NAMES       names that the Host header may have\n"
    "  -insecure          to everybody who can reach it\n"
    "  -unix-mode OCTAL   mode of a unix socket's file: 600\n"
    "  -max-seconds N, -max-reply-mb N, -max-connections N, -max-requests N,\n"
    "  -max-cpu PERCENT   limits: 300, 256, 64, 600 a minute, 2\n"
    "  -audit PLACE       a line for each profile: stderr, off or a file\n";

static const struct {
    const char *flag, *variable;
    bool has_value;
} flags[] = {
    {"addr", "PPROF_ADDR", true},
    {"cpuprofile", "PPROF_CPUPROFILE", true},
    {"heapprofile", "PPROF_HEAPPROFILE", true},
    {"memrate", "PPROF_MEM_RATE", true},
    {"blockprofile", "PPROF_BLOCKPROFILE", true},
    {"mutexprofile", "PPROF_MUTEXPROFILE", true},
    {"blockrate", "PPROF_BLOCK_RATE", true},
    {"mutexfraction", "PPROF_MUTEX_FRACTION", true},
    {"wallprofile", "PPROF_WALLPROFILE", true},
    {"signal", "PPROF_CPUPROFILE_SIGNAL", true},
    {"rate", "PPROF_CPU_RATE", true},
    {"source", "PPROF_CPU_SOURCE", true},
    {"children", "PPROF_CHILDREN", false},
    {"v", "PPROF_DEBUG", false},
    {"tls-cert", "PPROF_TLS_CERT", true},
    {"tls-key", "PPROF_TLS_KEY", true},
    {"client-ca", "PPROF_CLIENT_CA", true},
    {"client-allow", "PPROF_CLIENT_ALLOW", true},
    {"token-file", "PPROF_TOKEN_FILE", true},
    {"kubernetes", "PPROF_KUBERNETES", false},
    {"hosts", "PPROF_HOSTS", true},
    {"insecure", "PPROF_INSECURE", false},
    {"unix-mode", "PPROF_UNIX_MODE", true},
    {"max-seconds", "PPROF_MAX_SECONDS", true},
    {"max-reply-mb", "PPROF_MAX_REPLY_MB", true},
    {"max-connections", "PPROF_MAX_CONNECTIONS", true},
    {"max-requests", "PPROF_MAX_REQUESTS", true},
    {"max-cpu", "PPROF_MAX_CPU", true},
    {"audit", "PPROF_AUDIT", true},
};

static int fail(const char *words, const char *detail)
{
    fprintf(stderr, "pprof-run: %s%s\n", words, detail);
    return 2;
}

/* The arguments that one flag takes, 0 when it is none of ours. */
static int take_flag(char **argv)
{
    const char *name = argv[0] + 1;

    if (*name == '-')
        name++;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        size_t n = strlen(flags[i].flag);

        if (strncmp(name, flags[i].flag, n) != 0)
            continue;
        if (!flags[i].has_value && name[n] == '\0') {
            setenv(flags[i].variable, "1", 1);
            return 1;
        }
        if (flags[i].has_value && name[n] == '=') {
            setenv(flags[i].variable, name + n + 1, 1);
            return 1;
        }
        if (flags[i].has_value && name[n] == '\0' && argv[1]) {
            setenv(flags[i].variable, argv[1], 1);
            return 2;
        }
    }
    return 0;
}

/* Beside this program (a build directory), else where it was installed. */
static bool find_library(char *out, size_t size)
{
    static const char *const places[] = {"", "../lib/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (n > 0) {
        self[n] = '\0';
        slash = strrchr(self, '/');
        *slash = '\0';
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            snprintf(out, size, "%s/%slibpprof-preload.so", self, places[i]);
            if (access(out, R_OK) == 0)
                return true;
        }
    }
    snprintf(out, size, "%s/libpprof-preload.so", PPROF_LIBDIR);
    return access(out, R_OK) == 0;
}

static bool preload(const char *library)
{
    const char *old = getenv("LD_PRELOAD");
    char list[2 * PATH_MAX];

    if (!old || !*old)
        return setenv("LD_PRELOAD", library, 1) == 0;
    if (snprintf(list, sizeof(list), "%s:%s", library, old) >=
        (int)sizeof(list))
        return false;
    return setenv("LD_PRELOAD", list, 1) == 0;
}

int main(int argc, char **argv)
{
    char library[PATH_MAX + 64];
    int i = 1;

    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        int n;

        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "-version") == 0 ||
            strcmp(argv[i], "--version") == 0)
            return puts("pprof-run " PPROF_VERSION) < 0;
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return fputs(usage, stdout) < 0;
        n = take_flag(argv + i);
        if (n == 0)
            return fail("unknown option or missing value: ", argv[i]);
        i += n;
    }
    if (i >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (!find_library(library, sizeof(library)))
        return fail("cannot find libpprof-preload.so", "");
    if (!preload(library))
        return fail("LD_PRELOAD is too long", "");
    execvp(argv[i], argv + i);
    fprintf(stderr, "pprof-run: %s: %s\n", argv[i], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
