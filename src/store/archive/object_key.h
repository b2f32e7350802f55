#ifndef STORE_ARCHIVE_OBJECT_KEY_H
#define STORE_ARCHIVE_OBJECT_KEY_H

#include "base/arena.h"
#include "store/store.h"

/*
 * The key that a profile has in an object store:
 *
 *     PREFIX/SERVICE/TYPE/2019-05-30/1559250605250000000-ID,k=v,k=v.pb.gz
 *
 * It contains everything that is needed to store the profile again, so a
 * listing is an index.  The same profile always has the same key.  Service,
 * type and labels are percent-encoded; the number is the time in ns since 1970;
 * opaque profiles end in ".bin", those whose values are differences already in
 * ".delta.pb.gz".
 */

/* Appends the key, without a prefix. */
void object_key_add(struct buf *out, const struct store_profile *p,
                    bool is_delta);

/* Fills in everything except the bytes; anything before SERVICE is ignored.
 * Texts are from the arena.  False if the key is not of this form. */
bool object_key_parse(struct arena *a, struct str key, struct store_put *out,
                      struct store_id *id);

#endif
