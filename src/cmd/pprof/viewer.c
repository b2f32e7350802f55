#include "cmd/pprof/viewer.h"

#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "cmd/pprof/numbered.h"
#include "base/process.h"

struct viewers {
    VEC(const char *) commands;
};

const char *viewer_file(struct arena *a, const char *extension,
                        struct error *err)
{
    const char *directory = getenv("TMPDIR");

    if (!directory || !*directory)
        directory = "/tmp";
    return numbered_file(a, arena_printf(a, "%s/pprof", directory),
                         arena_printf(a, ".%s", extension), 0600, err);
}

static void add(struct viewers *v, struct arena *a, const char *command)
{
    if (command && *command)
        *vec_push(a, &v->commands) = command;
}

/* Which may show a page, best first. */
static void add_browsers(struct viewers *v, struct arena *a)
{
    add(v, a, getenv("BROWSER"));
    add(v, a, "chrome");
    add(v, a, "google-chrome");
    add(v, a, "chromium");
    add(v, a, "firefox");
    add(v, a, "sensible-browser");
    if (getenv("DISPLAY"))
        add(v, a, "xdg-open");
}

static bool start(struct arena *a, const char *command, const char *path,
                  pid_t *pid, struct error *err)
{
    VEC(char *) argv = {0};
    struct str rest = str_from(command), word;

    while (str_split(&rest, ' ', &word))
        *vec_push(a, &argv) = arena_cstr(a, word);
    *vec_push(a, &argv) = arena_cstr(a, str_from(path));
    *vec_push(a, &argv) = NULL;
    return process_start(argv.v, pid, err);
}

static bool start_first(struct arena *a, const struct viewers *v,
                        const char *path, pid_t *pid, struct error *err)
{
    for (size_t i = 0; i < v->commands.n; i++)
        if (start(a, v->commands.v[i], path, pid, err))
            return true;
    return false;
}

bool viewer_show(const char *viewer, const char *path, bool wait,
                 struct error *err)
{
    struct arena *a = arena_new();
    struct viewers v = {0};
    struct timespec moment = {.tv_sec = 1};
    pid_t pid;

    if (*viewer)
        add(&v, a, viewer);
    else
        add_browsers(&v, a);
    bool ok = start_first(a, &v, path, &pid, err);
    arena_free(a);
    if (ok && wait)
        ok = process_wait(pid, err);
    if (ok)
        nanosleep(&moment, NULL); /* it has to open the file first */
    return ok;
}
