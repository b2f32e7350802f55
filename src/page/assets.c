#include "page/assets.h"

#include "base/arena.h"
#include "base/file.h"

const struct asset *asset_find(struct str name)
{
    for (size_t i = 0; i < n_assets; i++)
        if (str_eq(assets[i].name, name))
            return &assets[i];
    return NULL;
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
