/*
 * kubectl-profefe reads `--from 24h` as 24 hours in the future, so its default
 * always fails, and it guesses the type of a file from the period alone, which
 * works for three of them.  Here a duration is an age, and the sample types
 * decide.
 */
#include "cmd/kubectl-pprof/collected.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_view.h"
#include "base/percent.h"
#include "base/time_text.h"
#include "cmd/kubectl-pprof/collector.h"
#include "profile/read.h"

#define FILE_MAX       ((size_t)1 << 30)
#define HTTP_NOT_FOUND 404

static const char *const types[] = {"cpu",   "heap",      "block",
                                    "mutex", "goroutine", "threadcreate",
                                    "other", "trace"};

static int complain(const struct error *err)
{
    session_say("%s", err->text);
    return EXIT_FAILED;
}

static int get_types(void)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        puts(types[i]);
    return EXIT_OK;
}

/* A text member, printed. */
static void print_text(struct json_view object, struct str key,
                       const char *after)
{
    struct buf text = BUF_INIT((size_t)64 << 10);
    struct json_view value;

    if (json_view_member(object, key, &value) &&
        (json_view_string(value, &text) || (buf_add(&text, value.text), true)))
        printf("%" STR_FMT "%s", STR_ARG(buf_str(&text)), after);
    buf_release(&text);
}

static void print_service(struct json_view item)
{
    struct buf text = BUF_INIT((size_t)64 << 10);

    if (json_view_string(item, &text))
        printf("%" STR_FMT "\n", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

static void print_profile(struct json_view item)
{
    print_text(item, STR("created_at"), "  ");
    print_text(item, STR("type"), "  ");
    print_text(item, STR("service"), "  ");
    print_text(item, STR("labels"), "  ");
    print_text(item, STR("id"), "\n");
}

static int get_list(struct session *s, const char *path,
                    void (*print)(struct json_view item))
{
    struct buf reply = BUF_INIT(BUF_OF_TOOL);
    struct json_view root, body, item;
    struct str rest = {0};
    struct error err;
    int code = EXIT_OK;

    if (!collector_get(s, path, &reply, &err)) {
        if (err.code != HTTP_NOT_FOUND)
            code = complain(&err);
        else
            session_say("nothing found");
    } else if (!json_view(buf_str(&reply), &root) ||
               !json_view_member(root, STR("body"), &body)) {
        session_say("collector %s: that is no reply of a collector",
                    s->args->collector);
        code = EXIT_FAILED;
    } else {
        while (json_view_next(body, &rest, &item))
            print(item);
    }
    buf_release(&reply);
    return code;
}

/* A time, or an age: "24h", "-24h", "now-24h", RFC 3339.  The API has whole
 * seconds; `up` includes the one that has begun. */
static bool add_time(struct buf *out, const char *text, bool up,
                     struct error *err)
{
    int64_t now = clock_realtime_ns(), at, age;
    struct str word = str_from(text);
    char stamp[32];
    struct tm parts;
    time_t seconds;

    if (word.n && word.s[0] == '-')
        word = str_skip(word, 1);
    if (duration_parse(word, &age, err))
        at = now - age;
    else if (!time_parse(str_from(text), now, &at, err))
        return false;
    seconds = (time_t)(at / SECOND) + up;
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S",
             gmtime_r(&seconds, &parts));
    buf_add(out, str_from(stamp));
    return true;
}

static int get_profiles(struct session *s)
{
    const struct arguments *args = s->args;
    struct buf path = arena_buf(s->arena);
    struct error err;

    if (!args->service) {
        session_say("whose profiles? Give --service NAME; `get services` lists "
                    "them");
        return EXIT_USAGE;
    }
    buf_add(&path, STR("/api/0/profiles?service="));
    percent_encode(&path, str_from(args->service), "");
    buf_addf(&path, "&type=%s&from=", args->type ? args->type : "cpu");
    if (!add_time(&path, args->from ? args->from : "24h", false, &err))
        return complain(&err);
    buf_add(&path, STR("&to="));
    if (!add_time(&path, args->to ? args->to : "now", true, &err))
        return complain(&err);
    return get_list(s, buf_cstr(&path), print_profile);
}

int collected_get(struct session *s)
{
    const struct words *names = &s->args->names;
    const char *what = names->list.n ? names->list.v[0] : "";

    if (strcmp(what, "types") == 0 || strcmp(what, "profile-types") == 0)
        return get_types();
    if ((strcmp(what, "services") == 0 || strcmp(what, "profiles") == 0) &&
        !s->args->collector) {
        session_say("which collector? Give --collector URL");
        return EXIT_USAGE;
    }
    if (strcmp(what, "services") == 0)
        return get_list(s, "/api/0/services", print_service);
    if (strcmp(what, "profiles") == 0)
        return get_profiles(s);
    session_say("get services, profiles or types");
    return EXIT_USAGE;
}

/* By the sample types, which every writer of profiles has the same. */
static const char *type_of(const struct profile *p)
{
    static const struct {
        struct str sample;
        const char *type;
    } known[] = {
        {STR_INIT("cpu"), "cpu"},
        {STR_INIT("inuse_space"), "heap"},
        {STR_INIT("alloc_space"), "heap"},
        {STR_INIT("goroutine"), "goroutine"},
        {STR_INIT("threadcreate"), "threadcreate"},
        {STR_INIT("contentions"), "mutex"},
    };

    for (size_t i = 0; i < p->types.n; i++)
        for (size_t j = 0; j < sizeof(known) / sizeof(*known); j++)
            if (str_eq(profile_str(p, p->types.v[i].type), known[j].sample))
                return known[j].type;
    return "other";
}

static bool load_file(struct session *s, const char *path, struct error *err)
{
    struct buf bytes = BUF_INIT(FILE_MAX);
    struct profile *p = NULL;
    const char *type = s->args->type;
    bool ok = file_read(path, &bytes, err);

    if (ok && !type) {
        p = profile_read_memory(buf_str(&bytes), NULL, err);
        ok = p != NULL || error_wrap(err, "%s", path);
        type = p ? type_of(p) : NULL;
    }
    ok = ok && collector_send(s, s->arena,
                              &(struct collector_profile){
                                  .service = str_from(s->args->service),
                                  .type = str_from(type),
                                  .bytes = buf_str(&bytes)},
                              err);
    if (ok)
        printf("%s: %s of %s\n", path, type, s->args->service);
    profile_free(p);
    buf_release(&bytes);
    return ok;
}

int collected_load(struct session *s)
{
    const struct words *names = &s->args->names;
    struct error err;
    int code = EXIT_OK;

    if (!s->args->service || !s->args->collector || names->list.n == 0) {
        session_say("load needs files, --service NAME and --collector URL");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < names->list.n; i++)
        if (!load_file(s, names->list.v[i], &err))
            code = complain(&err);
    return code;
}
