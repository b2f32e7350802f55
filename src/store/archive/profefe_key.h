#ifndef STORE_ARCHIVE_PROFEFE_KEY_H
#define STORE_ARCHIVE_PROFEFE_KEY_H

#include "base/arena.h"
#include "store/store.h"

/*
 * The keys under which profefe keeps profiles in S3 and GCS:
 *
 *     P0.SERVICE/1/XID,k=v,k=v
 *
 * The number is the profile type, the XID holds the time in seconds.  Nothing
 * is escaped, but profefe writes "__" for each '/' in the name of a service,
 * and the name stays like that, as in profefe's own listings.
 */

/* Fills in everything except the bytes; anything before "P0." is ignored.
 * Texts are from the arena.  False if the key is not of this form. */
bool profefe_key_parse(struct arena *a, struct str key, struct store_put *out,
                       struct store_id *id);

#endif
