/*
 * The page's files by name.  With PPROF_WEB_DIR, for developers, the bytes are
 * read from disk, but only under names that were built in: no part of a request
 * ever becomes a part of a file's name.
 */
#include "page/assets.h"

#include "base/arena.h"
#include "base/file.h"

static const struct asset *find(const struct asset_set *set, struct str name)
{
    for (size_t i = 0; i < set->n; i++)
        if (str_eq(set->all[i].name, name))
            return &set->all[i];
    return NULL;
}

const struct asset *asset_find(const struct asset_set *set, struct str name)
{
    const struct asset *found = find(set, name);

    return found || set == &page_assets ? found : find(&page_assets, name);
}

bool asset_is_constant(const struct asset *asset)
{
    return str_has_prefix(asset->name, STR("later-"));
}

bool asset_read(const struct asset *asset, const char *dir, struct buf *out,
                struct error *err)
{
    struct arena *a;
    bool ok;

    if (!dir) {
        buf_add(out, asset->bytes);
        return true;
    }
    a = arena_new();
    ok = file_read(arena_printf(a, "%s/%" STR_FMT, dir, STR_ARG(asset->name)),
                   out, err);
    arena_free(a);
    return ok;
}
