/*
 * The profile is handed to pprof's own code as a file without a name, so
 * every report, flag and page of pprof is here, too, and nothing is written
 * to disk.
 */
#include "cmd/kubectl-pprof/show.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/percent.h"
#include "base/time_text.h"
#include "cmd/kubectl-pprof/gather.h"
#include "cmd/pprof/command.h"
#include "cmd/pprof/program.h"
#include "profile/encode.h"

/* Its name; NULL, and the words are said.  Takes the profile over. */
static const char *memory_file(struct session *s, struct profile *p)
{
    struct buf bytes = BUF_INIT(BUF_OF_TOOL);
    struct error err;
    const char *name = NULL;
    int fd = memfd_create("profile", MFD_CLOEXEC);

    if (fd < 0)
        session_say("cannot keep the profile in memory");
    else if (!profile_encode_gzip_consume(p, &bytes, &err) ||
             !file_write_fd(fd, "profile", buf_str(&bytes), &err))
        session_say("%s", err.text);
    else
        name = arena_printf(s->arena, "/proc/self/fd/%d", fd);
    buf_release(&bytes);
    profile_free(p);
    return name;
}

/* Returns true if the user chose an output format after "--". */
static bool has_format(const struct words *others)
{
    for (size_t i = 0; i < others->list.n; i++) {
        const char *word = others->list.v[i];

        while (*word == '-')
            word++;
        if (strncmp(word, "http", 4) == 0 ||
            command_find(str_from(word)) != NULL)
            return true;
    }
    return false;
}

static int run_pprof(struct session *s, const char *format, const char *base,
                     const char *source)
{
    const struct words *others = &s->args->others;
    struct words argv = {0};

    *vec_push(s->arena, &argv.list) = "pprof";
    if (!has_format(others))
        *vec_push(s->arena, &argv.list) = format;
    if (s->args->output)
        *vec_push(s->arena, &argv.list) =
            arena_printf(s->arena, "-output=%s", s->args->output);
    if (base)
        *vec_push(s->arena, &argv.list) =
            arena_printf(s->arena, "-diff_base=%s", base);
    for (size_t i = 0; i < others->list.n; i++)
        *vec_push(s->arena, &argv.list) = others->list.v[i];
    *vec_push(s->arena, &argv.list) = source;
    size_t n = argv.list.n;
    *vec_push(s->arena, &argv.list) = NULL;
    return program_run((int)n, (char *const *)argv.list.v) == 0 ? EXIT_OK
                                                                : EXIT_FAILED;
}

/* A report of some of the pods is shown, but is no success. */
static int show(struct session *s, const char *format)
{
    int code;
    struct profile *p = gather_profile(s, &s->args->names, &code);
    const char *source = p ? memory_file(s, p) : NULL;

    if (!p)
        return code;
    int shown = source ? run_pprof(s, format, NULL, source) : EXIT_FAILED;
    return shown == EXIT_OK ? code : shown;
}

int show_top(struct session *s)
{
    return show(s, "-top");
}

int show_flame(struct session *s)
{
    return show(s, "-flame");
}

int show_web(struct session *s)
{
    return show(s, "-http=localhost:0");
}

static const char *profile_of(struct session *s, const struct words *names)
{
    int code;
    struct profile *p = gather_profile(s, names, &code);

    return p ? memory_file(s, p) : NULL;
}

/* The service that the collector knows the pods by. */
static const char *service_of(struct session *s)
{
    const char *name = s->args->names.list.n ? s->args->names.list.v[0] : NULL;

    if (s->args->service)
        return s->args->service;
    const char *slash = name ? strchr(name, '/') : NULL;
    return slash ? slash + 1 : name;
}

/* The collector's profile of an hour that ended `ago`. */
static const char *collected(struct session *s, struct error *err)
{
    const char *type = s->args->profile ? s->args->profile : "cpu";
    struct buf query = arena_buf(s->arena), from = arena_buf(s->arena),
               url = arena_buf(s->arena);
    int64_t ago;

    if (!s->args->collector || !service_of(s)) {
        error_set(err, "--ago needs --collector URL and --service NAME");
        return NULL;
    }
    if (!duration_parse(str_from(s->args->ago), &ago, err)) {
        error_wrap(err, "--ago");
        return NULL;
    }
    duration_add(&from, ago + HOUR);
    buf_addf(&query, "%s{service=\"%s\"}", type, service_of(s));
    buf_addf(&url, "%s/api/1/merge?query=", s->args->collector);
    percent_encode(&url, buf_str(&query), "");
    buf_addf(&url, "&from=now-%s&to=now-%s", buf_cstr(&from), s->args->ago);
    return buf_cstr(&url);
}

static int compare(struct session *s, const char *base,
                   const struct words *now_names)
{
    const char *now = base ? profile_of(s, now_names) : NULL;

    if (!now)
        return session_is_stopped() ? EXIT_INTERRUPTED : EXIT_FAILED;
    return run_pprof(s, "-top", base, now);
}

int show_diff(struct session *s)
{
    const struct words *names = &s->args->names;
    struct words one = {0}, two = {0};
    struct error err;

    if (s->args->ago) {
        const char *base = collected(s, &err);

        if (!base)
            session_say("%s", err.text);
        return base ? compare(s, base, names) : EXIT_USAGE;
    }
    if (s->args->base)
        return compare(s, s->args->base, names);
    if (names->list.n != 2) {
        session_say("diff needs two names (OLD NEW), or one and --base FILE, "
                    "or one with --collector URL --ago 24h");
        return EXIT_USAGE;
    }
    *vec_push(s->arena, &one.list) = names->list.v[0];
    *vec_push(s->arena, &two.list) = names->list.v[1];
    return compare(s, profile_of(s, &one), &two);
}
