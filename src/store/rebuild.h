#ifndef STORE_REBUILD_H
#define STORE_REBUILD_H

#include "profile/profile.h"
#include "store/row.h"

/*
 * From rows back to the model.
 *
 *     struct rebuilder b;
 *     rebuild_begin(&b, dict, header, image)
 *     rebuild_sample(&b, node, labels, values) …
 *     p = rebuild_end(&b);
 *
 * Mappings come in the order of the image.  Locations and functions come in the
 * order of their first use.  The profile lives in an arena, so running out of
 * memory is not reported here; the memory needed is bounded by what is stored.
 */
struct rebuilder {
    struct profile *p;
    const struct dict *d;
    struct arena *scratch;
    struct sample_builder samples;
    uint32_t *strings, *functions, *mappings, *locations; /* index + 1 */
};

/* False when the records are malformed; the rebuilder is then released. */
bool rebuild_begin(struct rebuilder *b, const struct dict *d, uint32_t header);

/* Adds the mappings of an image that are not there yet. */
bool rebuild_image(struct rebuilder *b, uint32_t image);
bool rebuild_sample(struct rebuilder *b, uint32_t node, uint32_t labels,
                    const int64_t *values);
bool rebuild_extras(struct rebuilder *b, struct str extras);
void rebuild_comment(struct rebuilder *b, struct str comment);

/* The profile, which the caller owns; NULL to drop it. */
struct profile *rebuild_end(struct rebuilder *b, bool ok);

/*
 * A whole stored profile, or NULL.  May be called with locks held and from
 * any memory scope: running out of memory is an error here.
 */
struct profile *rebuild_profile(const struct dict *d, const struct row_meta *m,
                                const struct row_samples *s, struct error *err);

#endif
