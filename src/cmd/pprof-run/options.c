/*
 * Flags and their variables in one table.  The environment is the only way to
 * reach the library in the program, and its children, so flags are turned into
 * variables at once and everything else reads those.
 */
#include "cmd/pprof-run/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/endpoint/serve_options.h"
#include "runtime/push/push_options.h"

const char run_options_usage[] =
    "usage: pprof-run [options] PROGRAM [ARGUMENT...]\n"
    "Runs PROGRAM with profiling enabled, without changing it.\n"
    "\n"
    "Profiles over HTTP:\n"
    "  -addr ADDRESS      serve /debug/pprof/ at 127.0.0.1:6060,\n"
    "                     127.0.0.1:0 (a free port) or unix:/path; %p in a\n"
    "                     path is the process id (PPROF_ADDR)\n"
    "\n"
    "Profiles pushed to a collector while the program runs:\n"
    "  -collector URL     http:// or https:// URL of pprofd or profefe\n"
    "                     (PPROF_COLLECTOR)\n"
    "  -service NAME      service of the profiles; default: the\n"
    "                     program's name (PPROF_SERVICE)\n"
    "  -labels LIST       labels: region=eu,version=1.3 (PPROF_LABELS)\n"
    "  -push LIST         of cpu, wall, heap, block, mutex and threads;\n"
    "                     default cpu (PPROF_PUSH)\n"
    "  -push-interval SECONDS  time between pushes; default 60\n"
    "                     (PPROF_PUSH_INTERVAL)\n"
    "  -push-seconds SECONDS  length of CPU and wall profiles; default\n"
    "                     10; if it equals the interval, there is no pause\n"
    "                     (PPROF_PUSH_SECONDS)\n"
    "  -push-exit SECONDS how long the exit of the program may wait for the\n"
    "                     last push; default 2; 0 disables it\n"
    "                     (PPROF_PUSH_EXIT)\n"
    "  -collector-ca FILE trusted CAs; default: those of the system\n"
    "                     (PPROF_COLLECTOR_CA)\n"
    "  -collector-cert FILE -collector-key FILE  client certificate\n"
    "                     (PPROF_COLLECTOR_CERT, PPROF_COLLECTOR_KEY)\n"
    "  -collector-token-file FILE  bearer token\n"
    "                     (PPROF_COLLECTOR_TOKEN_FILE)\n"
    "\n"
    "Profiles of the whole run, written when the program ends.  In a file\n"
    "name, %p is the process id:\n"
    "  -cpuprofile FILE   CPU time (PPROF_CPUPROFILE)\n"
    "  -heapprofile FILE  memory in use at the peak and at the end, and all\n"
    "                     that was allocated (PPROF_HEAPPROFILE)\n"
    "  -heapinterval SECONDS  also write the heap profile this often, to\n"
    "                     FILE.1, FILE.2 ... (PPROF_HEAP_INTERVAL)\n"
    "  -wallprofile FILE  wall-clock time of threads, running or waiting\n"
    "                     (PPROF_WALLPROFILE)\n"
    "  -blockprofile FILE where threads wait (PPROF_BLOCKPROFILE)\n"
    "  -mutexprofile FILE code that holds locks while others wait for them\n"
    "                     (PPROF_MUTEXPROFILE)\n"
    "\n"
    "How to measure:\n"
    "  -rate HZ           CPU samples per second of CPU time, 1 to 4000;\n"
    "                     default 100 (PPROF_CPU_RATE)\n"
    "  -memrate BYTES     on average, one sample per BYTES bytes allocated;\n"
    "                     1 records all, 0 none; default 524288\n"
    "                     (PPROF_MEM_RATE)\n"
    "  -blockrate NS      record every wait of at least NS nanoseconds; 1\n"
    "                     records all, 0 none (PPROF_BLOCK_RATE)\n"
    "  -mutexfraction N   record one contended unlock in N; 1 records all, 0\n"
    "                     none (PPROF_MUTEX_FRACTION)\n"
    "  -signal SIGNAL     do not start the CPU profile: SIGNAL (USR2, 12 ...)\n"
    "                     starts and stops it, into FILE.0, FILE.1 ...\n"
    "                     (PPROF_CPUPROFILE_SIGNAL)\n"
    "  -source SOURCE     perf, perf-user or timer; by default the best that\n"
    "                     works (PPROF_CPU_SOURCE)\n"
    "\n"
    "Processes:\n"
    "  -children          also profile child processes: each writes its own\n"
    "                     files (FILE.PID), and -addr serves all of them at\n"
    "                     one address (PPROF_CHILDREN)\n"
    "  -merge             with -children: merge the files of all processes\n"
    "                     into FILE when the last one has ended\n"
    "  -v                 report every file that is written (PPROF_DEBUG)\n"
    "  -version           print the version\n"
    "\n"
    "Access to the endpoint:\n"
    "  -tls-cert FILE -tls-key FILE  serve HTTPS; PEM files, read again when\n"
    "                     they change (PPROF_TLS_CERT, PPROF_TLS_KEY)\n"
    "  -client-ca FILE    accept clients with a certificate signed by this CA\n"
    "                     (PPROF_CLIENT_CA)\n"
    "  -client-allow NAMES  ... and with one of these names: CN, DNS:name,\n"
    "                     URI (PPROF_CLIENT_ALLOW)\n"
    "  -token-file FILE   accept clients with a token or user:password from\n"
    "                     this file, one per line (PPROF_TOKEN_FILE)\n"
    "  -kubernetes        accept users whom the cluster's RBAC rules allow\n"
    "                     to read the URL (PPROF_KUBERNETES)\n"
    "  -hosts NAMES       accept these names in the Host header\n"
    "                     (PPROF_HOSTS)\n"
    "  -insecure          accept all clients, even from other machines\n"
    "                     (PPROF_INSECURE)\n"
    "  -unix-mode OCTAL   mode of a Unix socket; default 600\n"
    "                     (PPROF_UNIX_MODE)\n"
    "  -audit PLACE       log one line per profile to a file or to stderr;\n"
    "                     off disables it (PPROF_AUDIT)\n"
    "  -max-seconds N     longest profile in seconds; default 300\n"
    "                     (PPROF_MAX_SECONDS)\n"
    "  -max-reply-mb N    largest reply in MB; default 256\n"
    "                     (PPROF_MAX_REPLY_MB)\n"
    "  -max-connections N simultaneous connections; default 64\n"
    "                     (PPROF_MAX_CONNECTIONS)\n"
    "  -max-requests N    requests per client per minute; default 600,\n"
    "                     0 for no limit (PPROF_MAX_REQUESTS)\n"
    "  -max-cpu PERCENT   CPU time for requests, as a percentage of one CPU;\n"
    "                     default 2, 0 for no limit (PPROF_MAX_CPU)\n";

const char *const run_options_files[] = {
    "PPROF_CPUPROFILE",   "PPROF_HEAPPROFILE",  "PPROF_WALLPROFILE",
    "PPROF_BLOCKPROFILE", "PPROF_MUTEXPROFILE", NULL};

/* Files that are read, or written while the program runs. */
static const char *const other_files[] = {"PPROF_TLS_CERT",
                                          "PPROF_TLS_KEY",
                                          "PPROF_CLIENT_CA",
                                          "PPROF_TOKEN_FILE",
                                          "PPROF_AUDIT",
                                          "PPROF_HEAP_DUMP_DIR",
                                          "PPROF_COLLECTOR_CA",
                                          "PPROF_COLLECTOR_CERT",
                                          "PPROF_COLLECTOR_KEY",
                                          "PPROF_COLLECTOR_TOKEN_FILE",
                                          NULL};

static const struct {
    const char *flag, *variable;
    bool has_value;
} flags[] = {
    {"addr", "PPROF_ADDR", true},
    {"cpuprofile", "PPROF_CPUPROFILE", true},
    {"heapprofile", "PPROF_HEAPPROFILE", true},
    {"heapinterval", "PPROF_HEAP_INTERVAL", true},
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
    {"collector", "PPROF_COLLECTOR", true},
    {"service", "PPROF_SERVICE", true},
    {"labels", "PPROF_LABELS", true},
    {"push", "PPROF_PUSH", true},
    {"push-interval", "PPROF_PUSH_INTERVAL", true},
    {"push-seconds", "PPROF_PUSH_SECONDS", true},
    {"push-exit", "PPROF_PUSH_EXIT", true},
    {"collector-ca", "PPROF_COLLECTOR_CA", true},
    {"collector-cert", "PPROF_COLLECTOR_CERT", true},
    {"collector-key", "PPROF_COLLECTOR_KEY", true},
    {"collector-token-file", "PPROF_COLLECTOR_TOKEN_FILE", true},
};

#define N_FLAGS (sizeof(flags) / sizeof(flags[0]))

/* "-name" or "--name"; what follows the dashes. */
static const char *name_of(const char *word)
{
    return word + (word[1] == '-' ? 2 : 1);
}

static bool is_flag(const char *word, const char *name)
{
    return strcmp(name_of(word), name) == 0;
}

/* Puts one flag into the environment; the number of words that it takes, 0 if
 * it is not one of ours. */
static int take_flag(char **argv, struct error *err)
{
    const char *name = name_of(argv[0]);

    for (size_t i = 0; i < N_FLAGS; i++) {
        size_t n = strlen(flags[i].flag);

        if (strncmp(name, flags[i].flag, n) != 0 ||
            (name[n] != '\0' && (name[n] != '=' || !flags[i].has_value)))
            continue;
        if (!flags[i].has_value)
            setenv(flags[i].variable, "1", 1);
        else if (name[n] == '=')
            setenv(flags[i].variable, name + n + 1, 1);
        else if (argv[1])
            setenv(flags[i].variable, argv[1], 1);
        else
            return error_set(err, "option %s needs a value", argv[0]);
        return flags[i].has_value && name[n] == '\0' ? 2 : 1;
    }
    return error_set(err, "unknown option %s; pprof-run -h lists all", argv[0]);
}

bool run_options_read(struct run_options *o, int argc, char **argv,
                      struct error *err)
{
    int i = 1;

    *o = (struct run_options){0};
    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        int n = 1;

        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (is_flag(argv[i], "merge"))
            o->merge = true;
        else if (is_flag(argv[i], "version"))
            o->wants_version = true;
        else if (is_flag(argv[i], "h") || is_flag(argv[i], "help"))
            o->wants_help = true;
        else if ((n = take_flag(argv + i, err)) == 0)
            return false;
        i += n;
    }
    o->program = i;
    return true;
}

static bool resolve(const char *variable, const char *prefix, struct error *err)
{
    const char *value = getenv(variable);
    char here[PATH_MAX], full[2 * PATH_MAX];
    size_t n = strlen(prefix);

    if (!value || strncmp(value, prefix, n) != 0 || value[n] == '\0' ||
        value[n] == '/')
        return true;
    if (!getcwd(here, sizeof(here)))
        return error_set_os(err, "get", "the current directory", errno);
    snprintf(full, sizeof(full), "%s%s/%s", prefix, here, value + n);
    return setenv(variable, full, 1) == 0 || error_set(err, "out of memory");
}

static bool is_audit_word(const char *variable)
{
    const char *value = getenv(variable);

    return value && strcmp(variable, "PPROF_AUDIT") == 0 &&
           (strcmp(value, "off") == 0 || strcmp(value, "stderr") == 0);
}

bool run_options_resolve_files(struct error *err)
{
    for (const char *const *v = run_options_files; *v; v++)
        if (!resolve(*v, "", err))
            return false;
    for (const char *const *v = other_files; *v; v++)
        if (!is_audit_word(*v) && !resolve(*v, "", err))
            return false;
    return resolve("PPROF_ADDR", "unix:", err);
}

bool run_options_measure(void)
{
    const char *value;

    for (const char *const *v = run_options_files; *v; v++)
        if ((value = getenv(*v)) && *value)
            return true;
    return serve_options_wanted() || push_options_wanted() ||
           ((value = getenv("PPROF_HEAP_DUMP_AT")) && *value);
}
