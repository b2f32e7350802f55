#ifndef STORE_ID_H
#define STORE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * The id of a stored profile: 12 bytes, written as 20 characters of
 * lower-case base32hex, as rs/xid does it.  The bytes are
 *
 *     0-3   seconds since 1970, big endian
 *     4-8   random, one choice per process
 *     9-11  counter, big endian, from a random start
 *
 * so that ids sort by the time of their making.  Users treat them as opaque.
 */
#define STORE_ID_BYTES 12
#define STORE_ID_TEXT  20

struct store_id {
    unsigned char bytes[STORE_ID_BYTES];
};

/* A new id; safe from any thread. */
struct store_id store_id_make(int64_t now_ns);

/* Writes STORE_ID_TEXT characters and a NUL. */
void store_id_format(const struct store_id *id, char out[STORE_ID_TEXT + 1]);

/* Exactly what store_id_format() writes; false for anything else. */
bool store_id_parse(struct str text, struct store_id *out);

#endif
