/*
 * The file name has the program and the value types of the profile in it, as
 * with google/pprof.  Both come from the server, so slashes are replaced.
 */
#include "cmd/pprof/save.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "cmd/pprof/numbered.h"
#include "cmd/pprof/ui.h"
#include "profile/encode.h"

static const char *directory(struct arena *a)
{
    const char *chosen = getenv("PPROF_TMPDIR"), *home = getenv("HOME");
    const char *tmp = getenv("TMPDIR");
    char *candidates[3] = {
        chosen && *chosen ? arena_printf(a, "%s", chosen) : NULL,
        home && *home ? arena_printf(a, "%s/pprof", home) : NULL,
        arena_printf(a, "%s", tmp && *tmp ? tmp : "/tmp"),
    };
    struct error err;

    for (size_t i = 0; i < 3; i++) {
        if (!candidates[i])
            continue;
        if (file_make_directory(candidates[i], 0755, &err))
            return candidates[i];
        ui_complain("Could not use temp dir %s: %s", candidates[i], err.text);
    }
    return NULL;
}

/* A word of a file name: a slash in it must not lead elsewhere. */
static void add_word(struct buf *out, struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        buf_add_char(out, word.s[i] == '/' ? '_' : word.s[i]);
    buf_add_char(out, '.');
}

static bool save_in(const struct profile *p, struct arena *a, const char *dir,
                    const char **path, struct error *err)
{
    struct buf prefix = BUF_INIT(BUF_OF_TOOL), bytes = BUF_INIT(BUF_OF_TOOL);

    buf_addf(&prefix, "%s/pprof.", dir);
    if (p->mappings.n && p->mappings.v[0].file)
        add_word(&prefix, path_base(profile_str(p, p->mappings.v[0].file)));
    for (size_t i = 0; i < p->types.n; i++)
        add_word(&prefix, profile_str(p, p->types.v[i].type));
    *path = numbered_file(a, buf_cstr(&prefix), ".pb.gz", 0666, err);
    bool ok = *path && profile_encode_gzip(p, &bytes, err) &&
              file_write(*path, buf_str(&bytes), err);
    if (*path && !ok)
        unlink(*path);
    buf_release(&prefix);
    buf_release(&bytes);
    return ok;
}

void save_copy(const struct profile *p)
{
    struct arena *a = arena_new();
    const char *dir = directory(a), *path;
    struct error err;

    if (!dir)
        ui_complain("Could not save profile: failed to identify temp dir");
    else if (save_in(p, a, dir, &path, &err))
        ui_say("Saved profile in %s", path);
    else
        ui_complain("Could not save profile: %s", err.text);
    arena_free(a);
}
