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
    struct str etag; /* with its quotes; depends on the bytes */
    struct str bytes;
    struct str packed; /* the same, gzipped at the highest level */
};

/* An HTML file and what it is made of. */
struct asset_set {
    const struct asset *all; /* sorted by name */
    size_t n;
    struct str shell; /* name of the HTML file */
    /* The HTML file of the list of services, without the scripts that it does
     * not need at first.  It ends inside of the body.  "": none. */
    struct str list_shell;
    /* The sources of its inline scripts and style for the content security
     * policy: 'sha256-…', with the quotes. */
    struct str script_hashes, style_hash;
};

/* The page of a profile, and what a collector's page has besides.  Made from
 * web/; the second one only for programs that link it. */
extern const struct asset_set page_assets, fleet_assets;

/* The page as one file: scripts and styles are inside, its data go between
 * these two. */
extern const struct str offline_start, offline_end;

/* Returns true if the file is named after its content, so that it never
 * changes. */
bool asset_is_constant(const struct asset *asset);

/* NULL if neither the set nor the page's own files have that name. */
const struct asset *asset_find(const struct asset_set *set, struct str name);

/*
 * Appends the bytes of an asset: those that were built in, or with `dir` the
 * file's of that directory, which may have been edited since.
 */
bool asset_read(const struct asset *asset, const char *dir, struct buf *out,
                struct error *err);

#endif
