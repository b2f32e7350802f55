/*
 * Invalid options are reported before the program starts: libpprof could only
 * report them after the program has run for hours.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/pprof-run/options.h"
#include "runtime/endpoint/serve_options.h"
#include "runtime/push/push_options.h"
#include "runtime/hook/settings.h"
#include "runtime/hook/signal_name.h"

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value ? value : NULL;
}

static bool check_numbers(struct error *err)
{
    for (size_t i = 0; i < setting_numbers_n; i++) {
        const struct setting_number *s = &setting_numbers[i];

        if (setting_is_bad(s))
            return error_set(err, "-%s %s: must be a number from %llu to %llu",
                             s->flag, value_of(s->variable),
                             (unsigned long long)s->min,
                             (unsigned long long)s->max);
    }
    return true;
}

static bool check_names(struct error *err)
{
    extern char **environ;
    const char *known, *entry = setting_misspelt(environ, &known);

    return !entry || error_set(err, "%.*s is no setting; PPROF_%s is one",
                               (int)strcspn(entry, "="), entry, known);
}

static bool check_signal(struct error *err)
{
    const char *value = value_of("PPROF_CPUPROFILE_SIGNAL");

    if (!value)
        return true;
    if (signal_number(value) == 0)
        return error_set(err,
                         "-signal %s: must be a signal that the program does "
                         "not use, such as USR1, USR2 or 12",
                         value);
    return value_of("PPROF_CPUPROFILE") ||
           error_set(err, "-signal %s: give -cpuprofile FILE as well", value);
}

static bool check_source(struct error *err)
{
    const char *value = value_of("PPROF_CPU_SOURCE");

    return setting_is_source(value) ||
           error_set(err, "-source %s: must be perf, perf-user or timer",
                     value);
}

/* A plain file is replaced, so its directory counts; anything else is opened.
 * The name may have the process id in it. */
static bool check_file(const char *path, struct error *err)
{
    char copy[PATH_MAX];
    const char *directory;
    struct stat st;

    if (strlen(path) >= sizeof(copy))
        return error_set_os(err, "open", path, ENAMETOOLONG);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return error_set_os(err, "open", path, EISDIR);
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ||
               errno == ENOENT || error_set_os(err, "open", path, errno);
    snprintf(copy, sizeof(copy), "%s", path);
    directory = dirname(copy);
    if (strstr(directory, "%p"))
        return true;
    return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 ||
           error_set_os(err, "open", path, errno);
}

static bool check_files(struct error *err)
{
    for (const char *const *v = run_options_files; *v; v++) {
        const char *path = value_of(*v);

        if (path && !check_file(path, err))
            return false;
    }
    return true;
}

static bool check_endpoint(struct error *err)
{
    struct serve_options o;

    return !serve_options_wanted() || (serve_options_read(NULL, &o, err) &&
                                       serve_options_check_files(&o, err));
}

static bool check_push(struct error *err)
{
    static struct push_options o; /* too large for a stack */

    return !push_options_wanted() || push_options_read(NULL, &o, err);
}

static bool check_merge(const struct run_options *o, struct error *err)
{
    if (!o->merge)
        return true;
    if (!value_of("PPROF_CHILDREN"))
        return error_set(err, "-merge: give -children as well");
    for (const char *const *v = run_options_files; *v; v++)
        if (value_of(*v) && strstr(value_of(*v), "%p"))
            return error_set(err,
                             "-merge: %s: one file cannot have %%p in "
                             "its name",
                             value_of(*v));
    return true;
}

bool run_options_check(const struct run_options *o, struct error *err)
{
    return check_names(err) && setting_switches_check(err) &&
           check_numbers(err) && check_signal(err) && check_source(err) &&
           check_files(err) && check_endpoint(err) && check_push(err) &&
           check_merge(o, err);
}
