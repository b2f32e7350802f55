/*
 * A mapping names a file on the machine where the profile was taken.  Here the
 * file is looked for in the directories of PPROF_BINARY_PATH, by build ID
 * first and by name second, in the layouts that distributions and google/pprof
 * use.  If the profile has a build ID, the file must have the same one, so
 * that addresses are never looked up in another version of the program.
 */
#include "cmd/pprof/binaries.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "cmd/pprof/ui.h"
#include "symbol/object.h"

/* Mach-O in both word sizes and byte orders and for several machines, PE:
 * named on a command line, but not read by us. */
static bool is_foreign(const char *path)
{
    static const unsigned char mach_o[][4] = {
        {0xfe, 0xed, 0xfa, 0xce}, {0xfe, 0xed, 0xfa, 0xcf},
        {0xce, 0xfa, 0xed, 0xfe}, {0xcf, 0xfa, 0xed, 0xfe},
        {0xca, 0xfe, 0xba, 0xbe}, {0xbe, 0xba, 0xfe, 0xca},
    };
    unsigned char head[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool whole = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head);

    if (fd >= 0)
        close(fd);
    for (size_t i = 0; whole && i < sizeof(mach_o) / sizeof(*mach_o); i++)
        if (memcmp(head, mach_o[i], sizeof(head)) == 0)
            return true;
    return whole && memcmp(head, "MZ", 2) == 0;
}

bool binaries_can_open(const char *path)
{
    struct error ignored;
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    struct object *o = object_open(
        path, (struct object_mapping){.limit = UINT64_MAX}, &ignored);
    object_free(o);
    return o || is_foreign(path);
}

struct candidates {
    struct arena *arena;
    struct str directory;
    VEC(const char *) paths;
};

/* directory/one/two, "" left out. */
static void add(struct candidates *c, struct str one, struct str two)
{
    char *path =
        arena_printf(c->arena, "%" STR_FMT "/%" STR_FMT "/%" STR_FMT,
                     STR_ARG(c->directory), STR_ARG(one), STR_ARG(two));

    *vec_push(c->arena, &c->paths) =
        arena_cstr(c->arena, path_clean(c->arena, str_from(path)));
}

static void add_all_of(struct candidates *c, struct str build_id)
{
    glob_t found = {0};
    char *pattern = arena_printf(c->arena, "%" STR_FMT "/%" STR_FMT "/*",
                                 STR_ARG(c->directory), STR_ARG(build_id));

    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            *vec_push(c->arena, &c->paths) =
                arena_cstr(c->arena, str_from(found.gl_pathv[i]));
    globfree(&found);
}

static struct str with_debug(struct arena *a, struct str name)
{
    return str_from(arena_printf(a, "%" STR_FMT ".debug", STR_ARG(name)));
}

static void add_candidates(struct candidates *c, struct str file,
                           struct str build_id)
{
    struct arena *a = c->arena;
    struct str base = file.n ? path_base(file) : STR("");

    if (build_id.n) {
        add(c, build_id, base);
        add_all_of(c, build_id);
        add(c, file, build_id);
        if (build_id.n >= 2)
            add(c, str_first(build_id, 2),
                with_debug(a, str_skip(build_id, 2)));
    }
    if (file.n) {
        struct str dir = path_dir(a, file);
        struct str hidden = str_from(
            arena_printf(a, ".debug/%" STR_FMT ".debug", STR_ARG(base)));
        struct str system =
            str_from(arena_printf(a, "usr/lib/debug/%" STR_FMT, STR_ARG(dir)));

        add(c, base, STR(""));
        add(c, file, STR(""));
        add(c, with_debug(a, file), STR(""));
        add(c, dir, hidden);
        add(c, system, with_debug(a, base));
    }
}

/* Does the file at `path` belong to the mapping?  Then it takes its name. */
static bool take(struct profile *p, struct mapping *m, const char *path)
{
    struct error ignored;
    struct object *o = object_open(path,
                                   (struct object_mapping){.start = m->start,
                                                           .limit = m->limit,
                                                           .offset = m->offset},
                                   &ignored);
    struct str wanted = profile_str(p, m->build_id);

    if (!o)
        return false;
    struct str id = object_build_id(o);
    bool ours = wanted.n == 0 || str_eq(wanted, id);
    if (ours)
        m->file = profile_intern(p, str_from(path));
    else
        ui_complain("Ignoring local file %s: build-id mismatch (%" STR_FMT
                    " != %" STR_FMT ")",
                    path, STR_ARG(wanted), STR_ARG(id));
    object_free(o);
    return ours;
}

static bool locate_in(struct profile *p, struct mapping *m,
                      struct str directory)
{
    struct candidates c = {.arena = arena_new(), .directory = directory};
    struct stat st;
    bool found = false;

    if (stat(arena_cstr(c.arena, directory), &st) == 0)
        add_candidates(&c, profile_str(p, m->file),
                       profile_str(p, m->build_id));
    for (size_t i = 0; !found && i < c.paths.n; i++)
        found = take(p, m, c.paths.v[i]);
    arena_free(c.arena);
    return found;
}

void binaries_locate(struct profile *p)
{
    const char *path = getenv("PPROF_BINARY_PATH"), *home = getenv("HOME");
    struct arena *a = arena_new();

    if (!path || !*path)
        path = arena_printf(a, "%s%spprof/binaries", home ? home : "",
                            home && *home ? "/" : "");
    for (size_t i = 0; i < p->mappings.n; i++) {
        struct str rest = str_from(path), directory;

        while (str_split(&rest, ':', &directory))
            if (locate_in(p, &p->mappings.v[i], directory))
                break;
    }
    arena_free(a);
}
