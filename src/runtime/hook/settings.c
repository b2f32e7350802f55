/*
 * An unknown name is reported only if it resembles a setting: the environment
 * is shared by all programs, and pprof itself has PPROF_ variables.
 */
#include "runtime/hook/settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runtime/cpu/cpu.h"

#define PREFIX   "PPROF_"
#define MAX_NAME 32 /* behind the prefix */

const struct setting_number setting_numbers[] = {
    {"rate", "PPROF_CPU_RATE", 1, CPU_RATE_MAX},
    {"memrate", "PPROF_MEM_RATE", 0, INT64_MAX},
    {"blockrate", "PPROF_BLOCK_RATE", 0, INT64_MAX},
    {"mutexfraction", "PPROF_MUTEX_FRACTION", 0, INT_MAX},
    {"heapinterval", "PPROF_HEAP_INTERVAL", 1, 86400},
};
const size_t setting_numbers_n =
    sizeof(setting_numbers) / sizeof(setting_numbers[0]);

/* Without the prefix. */
static const char *const names[] = {
    "ADDR",
    "AUDIT",
    "BINARY_PATH", /* of pprof, as the next two */
    "BLOCKPROFILE",
    "BLOCK_RATE",
    "CHILDREN",
    "CLIENT_ALLOW",
    "CLIENT_CA",
    "COLLECTOR",
    "COLLECTOR_CA",
    "COLLECTOR_CERT",
    "COLLECTOR_KEY",
    "COLLECTOR_TOKEN_FILE",
    "CPUPROFILE",
    "CPUPROFILE_SIGNAL",
    "CPU_RATE",
    "CPU_SOURCE",
    "DEBUG",
    "EXECS",
    "HEAPPROFILE",
    "HEAP_DUMP_AT",
    "HEAP_DUMP_DIR",
    "HEAP_DUMP_URL",
    "HEAP_INTERVAL",
    "HOSTS",
    "INSECURE",
    "KUBERNETES",
    "KUBERNETES_DIR",
    "LABELS",
    "MAX_CONNECTIONS",
    "MAX_CPU",
    "MAX_REPLY_MB",
    "MAX_REQUESTS",
    "MAX_SECONDS",
    "MEM_RATE",
    "MUTEXPROFILE",
    "MUTEX_FRACTION",
    "PUSH",
    "PUSH_EXIT",
    "PUSH_INTERVAL",
    "PUSH_MEMORY",
    "PUSH_SECONDS",
    "QUIET",
    "SELF",
    "SERVICE",
    "SYMBOL_MEMORY",
    "TLS_CERT",
    "TLS_KEY",
    "TMPDIR",
    "TOKEN_FILE",
    "TOOLS",
    "UNIX_MODE",
    "WALLPROFILE",
};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

bool setting_is_bad(const struct setting_number *s)
{
    const char *value = getenv(s->variable);
    uint64_t n;

    return value && *value &&
           (!str_to_u64(str_from(value), 10, &n) || n < s->min || n > s->max);
}

bool setting_switches_check(struct error *err)
{
    static const char *const switches[] = {"PPROF_CHILDREN",   "PPROF_DEBUG",
                                           "PPROF_INSECURE",   "PPROF_QUIET",
                                           "PPROF_KUBERNETES", "PPROF_SELF"};

    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        const char *value = getenv(switches[i]);

        if (value && *value && strcmp(value, "0") != 0 &&
            strcmp(value, "1") != 0)
            return error_set(err, "%s=%s: must be 1 or 0", switches[i], value);
    }
    return true;
}

bool setting_is_source(const char *value)
{
    return !value || !*value || strcmp(value, "perf") == 0 ||
           strcmp(value, "perf-user") == 0 || strcmp(value, "timer") == 0;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters differ, are missing or too many (Levenshtein's distance). */
static unsigned distance(struct str a, struct str b)
{
    unsigned row[MAX_NAME + 1];

    for (unsigned j = 0; j <= b.n; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned before = row[0]; /* of the row above, one to the left */

        row[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            unsigned above = row[j];

            row[j] = least(least(above, row[j - 1]) + 1,
                           before + (a.s[i - 1] != b.s[j - 1]));
            before = above;
        }
    }
    return row[b.n];
}

static const char *most_similar(struct str name)
{
    unsigned limit = name.n > 4 ? 2 : 1;

    for (size_t i = 0; i < N_NAMES; i++)
        if (distance(name, str_from(names[i])) <= limit)
            return names[i];
    return NULL;
}

static bool is_known(struct str name)
{
    for (size_t i = 0; i < N_NAMES; i++)
        if (str_eq(name, str_from(names[i])))
            return true;
    return false;
}

const char *setting_misspelt(char *const *environment, const char **known)
{
    for (; environment && *environment; environment++) {
        const char *name = *environment + strlen(PREFIX);
        struct str word;

        if (strncmp(*environment, PREFIX, strlen(PREFIX)) != 0)
            continue;
        word = str_of(name, strcspn(name, "="));
        if (word.n == 0 || word.n > MAX_NAME || is_known(word))
            continue;
        *known = most_similar(word);
        if (*known)
            return *environment;
    }
    return NULL;
}
