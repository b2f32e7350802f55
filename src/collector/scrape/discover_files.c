/*
 * Targets from files.  They are read again when one of them has changed,
 * appeared or gone; a file that cannot be read keeps all targets as they are.
 */
#include <glob.h>
#include <stdlib.h>

#include "base/file_version.h"
#include "base/hash.h"
#include "collector/scrape/discoveries.h"
#include "collector/scrape/refresh.h"
#include "collector/scrape/target_groups.h"
#include "config/document.h"

struct files {
    const struct keys_file_sd *config;
    uint64_t seen; /* names and versions of what was read; 0: nothing */
};

static void find_files(const struct keys_file_sd *config, glob_t *out)
{
    struct arena *a = arena_new();
    int flags = GLOB_NOCHECK; /* a name without * that is missing: an error */

    for (size_t i = 0; i < config->files.list.n; i++) {
        struct str name = config->files.list.v[i];
        bool is_pattern = str_find_char(name, '*') >= 0;

        if (glob(arena_cstr(a, name),
                 is_pattern ? flags & ~GLOB_NOCHECK : flags, NULL, out) == 0)
            flags |= GLOB_APPEND;
    }
    arena_free(a);
}

static uint64_t stamp(const glob_t *g)
{
    uint64_t h = 1;

    for (size_t i = 0; i < g->gl_pathc; i++) {
        struct file_version v = file_version_of(g->gl_pathv[i]);

        h = hash_mix(h ^ str_hash(str_from(g->gl_pathv[i])));
        h = hash_mix(h ^ str_hash(str_of((const char *)&v, sizeof(v))));
    }
    return h ? h : 1;
}

static bool read_file(const char *path, struct arena *a,
                      struct scrape_targets *out, struct error *err)
{
    const struct node *root =
        document_read_file(a, path, &target_groups_limits, err);

    if (!root)
        return false;
    if (root->kind == NODE_MAP && root->n == 0)
        return true; /* an empty file */
    return target_groups_read(out, a, root, err);
}

static void mark(struct scrape_targets *targets, struct arena *a, size_t from,
                 const char *path)
{
    struct str name = arena_str(a, str_from(path));

    for (size_t i = from; i < targets->list.n; i++)
        label_set_put(a, &targets->list.v[i], STR("__meta_filepath"), name);
}

static bool load(void *self, struct arena *a, struct scrape_targets *out,
                 bool *same, struct error *err)
{
    struct files *f = self;
    glob_t g = {0};
    uint64_t now;
    bool ok = true;

    find_files(f->config, &g);
    now = stamp(&g);
    *same = now == f->seen;
    for (size_t i = 0; ok && !*same && i < g.gl_pathc; i++) {
        size_t from = out->list.n;

        ok = read_file(g.gl_pathv[i], a, out, err);
        if (ok)
            mark(out, a, from, g.gl_pathv[i]);
    }
    if (ok)
        f->seen = now;
    globfree(&g);
    return ok;
}

bool discovery_of_files(const struct keys_file_sd *config,
                        struct discovery *out, struct error *err)
{
    struct files *f = calloc(1, sizeof(*f));

    if (!f)
        return error_set(err, "out of memory");
    f->config = config;
    return refresh_new(
        &(struct refresh_source){.load = load,
                                 .free = free,
                                 .self = f,
                                 .interval_ns = config->refresh_ns,
                                 .name = "file_sd_configs"},
        out, err);
}
