/*
 * Reading the options.  pprof-run uses this, too, to refuse what cannot work
 * before it starts the program.
 */
#include "runtime/push/push_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "pprof/pprof.h"

#define MB               ((uint64_t)1 << 20)
#define DEFAULT_INTERVAL 60
#define DEFAULT_SECONDS  10
#define DEFAULT_MEMORY   8
#define DEFAULT_EXIT     2

const char *const push_kind_names[PUSH_KINDS] = {
    [PUSH_CPU] = "cpu",     [PUSH_WALL] = "wall",   [PUSH_HEAP] = "heap",
    [PUSH_BLOCK] = "block", [PUSH_MUTEX] = "mutex", [PUSH_THREADS] = "threads",
};

bool push_options_wanted(void)
{
    const char *url = secure_getenv("PPROF_COLLECTOR");

    return url && *url;
}

static bool take_kind(struct str word, bool out[PUSH_KINDS], struct error *err)
{
    for (unsigned i = 0; i < PUSH_KINDS; i++)
        if (str_eq(word, str_from(push_kind_names[i]))) {
            out[i] = true;
            return true;
        }
    return error_set(err,
                     "PPROF_PUSH: %" STR_FMT
                     " cannot be pushed; known profiles are cpu, wall, heap, "
                     "block, mutex and threads",
                     STR_ARG(word));
}

bool push_kinds_parse(const char *text, bool out[PUSH_KINDS], struct error *err)
{
    struct str rest = str_from(text), word;
    bool any = false;

    memset(out, 0, PUSH_KINDS * sizeof(*out));
    while (str_split(&rest, ',', &word)) {
        if (str_trim(word).n == 0)
            continue;
        any = true;
        if (!take_kind(str_trim(word), out, err))
            return false;
    }
    return any || error_set(err, "PPROF_PUSH is empty: name the profiles to "
                                 "push, such as cpu,heap");
}

static bool is_one(const char *variable)
{
    const char *value = secure_getenv(variable);

    return value && strcmp(value, "1") == 0;
}

/* What the program says, else the variable, else the default; in bounds. */
static bool take_number(long long asked, const char *variable,
                        uint64_t fallback, uint64_t min, uint64_t max,
                        uint64_t *out, struct error *err)
{
    const char *value = secure_getenv(variable);

    *out = fallback;
    if (asked > 0)
        *out = (uint64_t)asked;
    else if (value && *value && !str_to_u64(str_from(value), 10, out))
        *out = UINT64_MAX;
    return (*out >= min && *out <= max) ||
           error_set(err, "%s: must be a number from %llu to %llu", variable,
                     (unsigned long long)min, (unsigned long long)max);
}

static bool take_times(const struct pprof_push_options *a,
                       struct push_options *out, struct error *err)
{
    uint64_t interval, length, exit_s;

    if (!take_number(a->interval_seconds, "PPROF_PUSH_INTERVAL",
                     DEFAULT_INTERVAL, 1, 86400, &interval, err) ||
        !take_number(a->cpu_seconds, "PPROF_PUSH_SECONDS",
                     interval < DEFAULT_SECONDS ? interval : DEFAULT_SECONDS, 1,
                     3600, &length, err) ||
        !take_number(a->exit_seconds, "PPROF_PUSH_EXIT", DEFAULT_EXIT, 0, 60,
                     &exit_s, err))
        return false;
    if (length > interval)
        return error_set(err,
                         "PPROF_PUSH_SECONDS: a profile of %llu s does not "
                         "fit into PPROF_PUSH_INTERVAL, %llu s",
                         (unsigned long long)length,
                         (unsigned long long)interval);
    out->interval_ns = (int64_t)interval * SECOND;
    out->length_ns = (int64_t)length * SECOND;
    out->exit_ns = a->exit_seconds < 0 ? 0 : (int64_t)exit_s * SECOND;
    return true;
}

bool push_options_read(const struct pprof_push_options *asked,
                       struct push_options *out, struct error *err)
{
    struct pprof_push_options a = {0};
    const char *kinds = secure_getenv("PPROF_PUSH");
    uint64_t megabytes;

    if (asked)
        memcpy(&a, asked, asked->size < sizeof(a) ? asked->size : sizeof(a));
    *out = (struct push_options){.quiet = is_one("PPROF_QUIET"),
                                 .verbose = is_one("PPROF_DEBUG")};
    if (a.profiles)
        kinds = a.profiles;
    if (!push_kinds_parse(kinds ? kinds : "cpu", out->kinds, err) ||
        !take_times(&a, out, err) ||
        !take_number(0, "PPROF_PUSH_MEMORY", DEFAULT_MEMORY, 1, 1024,
                     &megabytes, err))
        return false;
    out->max_bytes = a.max_bytes ? a.max_bytes : megabytes * MB;
    return push_target_read(
        &(struct push_target_options){
            .collector = a.collector,
            .service = a.service,
            .labels = a.labels,
            .ca = a.ca,
            .cert = a.cert,
            .key = a.key,
            .token_file = a.token_file,
        },
        &out->target, err);
}
