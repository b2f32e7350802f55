#ifndef KUBE_JSON_STREAM_H
#define KUBE_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Splits JSON that arrives in pieces into the values that matter, so that
 * memory holds one of them at a time and never a whole reply.
 *
 * A watch is a sequence of objects (one for each event); every one is given
 * to take() with the key "".  A list is one object with an array "items":
 * each item is given alone with the key "items", and each other member with
 * its own key.
 *
 * Only brackets and strings are parsed.  The reader of a value checks that it
 * is valid JSON.
 */
typedef bool json_stream_take(void *arg, struct str key, struct str value,
                              struct error *err);

struct json_stream {
    bool is_list;
    json_stream_take *take;
    void *arg;

    struct buf value; /* the one under way; its limit is that of a value */
    char key[32];     /* of a list's member, cut if longer */
    size_t key_len;

    unsigned place; /* enum place in json_stream.c */
    unsigned depth; /* brackets open in the value under way */
    bool in_value, in_string, is_escaped, is_scalar;
    bool has_items; /* a list's "items" was there, empty or not */
};

void json_stream_init(struct json_stream *s, bool is_list,
                      size_t max_value_bytes, json_stream_take *take,
                      void *arg);
void json_stream_release(struct json_stream *s);

/* False: a value is too large, the text is not a list or a sequence of objects,
 * or take() returned false.  Nothing more may be fed then. */
bool json_stream_feed(struct json_stream *s, struct str bytes,
                      struct error *err);

/* Returns true if no value is incomplete. */
bool json_stream_is_complete(const struct json_stream *s);

#endif
