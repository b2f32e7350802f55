#ifndef PAGE_ASSETS_H
#define PAGE_ASSETS_H

#include "base/buf.h"
#include "base/error.h"

/*
 * The page's own files: everything in web/, built into the program.
 */
struct asset {
    struct str name; /* "index.html" */
    struct str type; /* for Content-Type */
    struct str etag; /* with its quotes: another one for other bytes */
    struct str bytes;
    struct str packed; /* the same, gzipped as well as can be */
};

/* Sorted by name; assets_data.c, which is made from web/. */
extern const struct asset assets[];
extern const size_t n_assets;

/* What a policy must name for the scripts and the style inside index.html:
 * 'sha256-…', with the quotes. */
extern const struct str shell_script_hashes, shell_style_hash;

/* The page as one file: scripts and styles are inside, its data go between
 * these two. */
extern const struct str offline_start, offline_end;

/* NULL if there is none of that name. */
const struct asset *asset_find(struct str name);

/*
 * Appends the bytes of an asset: those that were built in, or with `dir` the
 * file's of that directory, which may have been edited since.
 */
bool asset_read(const struct asset *asset, const char *dir, struct buf *out,
                struct error *err);

#endif
