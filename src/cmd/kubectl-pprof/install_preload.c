/*
 * The libraries are looked for beside the program, as in a build directory,
 * and in the lib directories beside its own, as `make install` leaves them.
 */
#include "cmd/kubectl-pprof/install_preload.h"

#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define LIBRARY_MAX ((size_t)256 << 20)

/* The first file that matches; NULL if there is none. */
static const char *first_of(struct arena *a, const char *pattern)
{
    const char *found = NULL;
    glob_t all;

    if (glob(pattern, 0, NULL, &all) == 0 && all.gl_pathc)
        found = arena_printf(a, "%s", all.gl_pathv[0]);
    globfree(&all);
    return found;
}

static const char *find(struct arena *a, const char *name)
{
    static const char *const places[] = {"%s/%s", "%s/../lib/%s",
                                         "%s/../lib/*/%s", "%s/../lib64/%s"};
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *slash;
    const char *found = NULL;

    if (n <= 0)
        return NULL;
    own[n] = '\0';
    slash = strrchr(own, '/');
    *slash = '\0';
    for (size_t i = 0; !found && i < sizeof(places) / sizeof(*places); i++) {
        struct buf pattern = arena_buf(a);
        struct str form = str_from(places[i]);

        buf_add(&pattern, str_from(own));
        buf_add(&pattern, str_skip(str_first(form, form.n - 2), 2));
        buf_add(&pattern, str_from(name));
        found = first_of(a, buf_cstr(&pattern));
    }
    return found;
}

static bool copy(struct session *s, const char *from, const char *name,
                 struct error *err)
{
    struct buf bytes = BUF_INIT(LIBRARY_MAX);
    bool ok = file_read(from, &bytes, err) &&
              file_write(arena_printf(s->arena, "%s/%s",
                                      s->args->names.list.v[0], name),
                         buf_str(&bytes), err);

    buf_release(&bytes);
    return ok;
}

int install_preload(struct session *s)
{
    static const char *const names[] = {"libpprof-preload.so",
                                        "libpprof-symbol.so"};
    struct error err;

    if (s->args->names.list.n != 1) {
        session_say("install-preload needs a directory");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < 2; i++) {
        const char *from = find(s->arena, names[i]);

        if (!from && i == 0) {
            session_say("no %s beside this program", names[i]);
            return EXIT_FAILED;
        }
        if (from && !copy(s, from, names[i], &err)) {
            session_say("%s", err.text);
            return EXIT_FAILED;
        }
    }
    return EXIT_OK;
}
