/*
 * The loader splits LD_PRELOAD at spaces and colons and only warns about a file
 * that it cannot use, so what can be wrong is found out here.
 */
#include "cmd/pprof-run/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "elf/preload_check.h"

#define LIBRARY  "libpprof-preload.so"
#define MAX_LIST ((size_t)128 << 10)

/* Where libc looks without PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

static const char *const places[] = {"", PPROF_LIBDIR_FROM_BINDIR "/",
                                     "../lib/"};

static bool own_directory(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    const char *name = (const char *)getauxval(AT_EXECFN);
    char *slash;

    if (n > 0)
        out[n] = '\0';
    else
        snprintf(out, PATH_MAX, "%s", name ? name : "");
    slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* True if it is there; else the place joins the list of those searched. */
static bool try_place(const char *path, struct buf *searched)
{
    if (access(path, R_OK) == 0)
        return true;
    buf_addf(searched, "%s%s", searched->len ? ", " : "", path);
    return false;
}

static bool find_library(char *out, size_t size, struct error *err)
{
    struct buf searched = BUF_INIT(2048);
    char here[PATH_MAX];
    bool found = false;

    if (own_directory(here))
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !found;
             i++) {
            snprintf(out, size, "%s/%s" LIBRARY, here, places[i]);
            found = try_place(out, &searched);
        }
    if (!found) {
        snprintf(out, size, "%s/" LIBRARY, PPROF_LIBDIR);
        found = try_place(out, &searched);
    }
    if (!found)
        error_set(err, "cannot find " LIBRARY "; looked for %s",
                  buf_cstr(&searched));
    buf_release(&searched);
    return found;
}

/* What LD_PRELOAD was before; NULL: nothing. */
static char *others;

bool preload_set(struct error *err)
{
    const char *old = getenv("LD_PRELOAD");
    struct buf list = BUF_INIT(MAX_LIST);
    char library[2 * PATH_MAX];
    bool ok;

    if (!find_library(library, sizeof(library), err))
        return false;
    if (strpbrk(library, ": "))
        return error_set(err,
                         "%s: the loader cannot preload a file with a space "
                         "or colon in its name",
                         library);
    others = old ? strdup(old) : NULL;
    buf_addf(&list, "%s%s%s", library, old && *old ? ":" : "", old ? old : "");
    ok = buf_ok(&list) && setenv("LD_PRELOAD", buf_cstr(&list), 1) == 0;
    buf_release(&list);
    return ok || error_set(err, "LD_PRELOAD is too long");
}

/* As execvp does; false: there is none. */
static bool find_program(const char *name, char out[PATH_MAX])
{
    const char *list = getenv("PATH");
    struct str rest = str_from(list ? list : DEFAULT_PATH), directory;

    if (strchr(name, '/')) {
        snprintf(out, PATH_MAX, "%s", name);
        return access(out, X_OK) == 0;
    }
    while (str_split(&rest, ':', &directory)) {
        snprintf(out, PATH_MAX, "%" STR_FMT "%s%s", STR_ARG(directory),
                 directory.n ? "/" : "", name);
        if (access(out, X_OK) == 0)
            return true;
    }
    return false;
}

void preload_explain(const char *program)
{
    char path[PATH_MAX];
    const char *obstacle =
        find_program(program, path) ? preload_obstacle(path) : NULL;

    if (!obstacle)
        return;
    fprintf(stderr, "pprof-run: %s cannot be profiled: %s\n", program,
            obstacle);
    if (obstacle == preload_other_libc && others)
        setenv("LD_PRELOAD", others, 1);
    else if (obstacle == preload_other_libc)
        unsetenv("LD_PRELOAD");
}
