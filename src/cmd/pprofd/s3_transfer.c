/*
 * A profile is an object, and its key says everything else about it
 * (store/archive/object_key.h).  There is no index that could be missing: an
 * export that was interrupted can be imported, and run again.
 */
#include "cmd/pprofd/s3_transfer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "cmd/pprofd/s3_place.h"
#include "store/archive/object_key.h"
#include "store/archive/profefe_key.h"
#include "store/archive/s3_client.h"

#define PROFILE_MAX ((size_t)1 << 30)

struct bucket {
    struct s3_client *client;
    struct s3_place place;
};

static bool open_bucket(struct arena *a, const char *place, struct str endpoint,
                        struct bucket *b, struct error *err)
{
    struct s3_settings s;

    if (!s3_place_parse(a, str_from(place), &b->place, err) ||
        !s3_settings_read(str_from(place), endpoint, &s, err))
        return false;
    b->client = s3_client_new(&s, err);
    return b->client || error_wrap(err, "%s", place);
}

/* --- export --------------------------------------------------------------- */

struct export
{
    const struct bucket *bucket;
    uint64_t n, refused;
    struct error *err;
    bool failed;
};

static bool export_one(void *arg, const struct store_profile *p,
                       struct str bytes)
{
    struct export *e = arg;
    const struct bucket *b = e->bucket;
    struct arena *a = arena_new();
    struct buf key = arena_buf(a);
    char id[STORE_ID_TEXT + 1];

    buf_add(&key, b->place.prefix);
    object_key_add(&key, p, p->is_delta);
    if (key.len > S3_KEY_MAX) {
        store_id_format(&p->id, id);
        fprintf(stderr,
                "pprofd: profile %s is not exported: with its labels, its key "
                "has %zu bytes, and S3 allows %d\n",
                id, key.len, S3_KEY_MAX);
        e->refused++;
    } else if (s3_put(b->client, b->place.bucket, buf_str(&key), bytes,
                      e->err)) {
        import_say_progress(++e->n, "exported");
    } else {
        e->failed = true;
    }
    arena_free(a);
    return !e->failed;
}

bool s3_export(struct store *store, const char *place, struct str endpoint,
               struct error *err)
{
    struct store_query all = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    struct arena *a = arena_new();
    struct bucket b = {0};
    struct export e = {.bucket = &b, .err = err};
    bool ok = open_bucket(a, place, endpoint, &b, err);

    ok = ok &&
         store_export(store, &all, NULL, export_one, &e, NULL, err) ==
             STORE_OK &&
         !e.failed;
    if (ok || e.n > 0)
        printf("exported %" PRIu64 " profiles to %s\n", e.n, place);
    if (ok && e.refused > 0)
        ok =
            error_set(err, "%" PRIu64 " profiles were not exported", e.refused);
    s3_client_free(b.client);
    arena_free(a);
    return ok;
}

/* --- import --------------------------------------------------------------- */

struct source {
    const struct bucket *bucket;
    struct import *sink;
    uint64_t n, others;
};

/* Objects of others may be in the same place. */
static bool import_one(void *arg, struct str key, uint64_t size,
                       struct error *err)
{
    struct source *s = arg;
    struct arena *a = arena_new();
    struct buf bytes = BUF_INIT(PROFILE_MAX);
    struct store_put put;
    struct store_id id;
    bool ok = true;

    if (!object_key_parse(a, key, &put, &id) &&
        !profefe_key_parse(a, key, &put, &id)) {
        s->others++;
    } else if (s->n++, size > PROFILE_MAX) {
        s->sink->refused++;
        fprintf(stderr, "pprofd: %" STR_FMT ": larger than 1 GB\n",
                STR_ARG(key));
    } else if (s3_get(s->bucket->client, s->bucket->place.bucket, key, &bytes,
                      err)) {
        put.bytes = buf_str(&bytes);
        import_put(s->sink, &put, arena_cstr(a, key));
    } else {
        ok = false;
    }
    buf_release(&bytes);
    arena_free(a);
    return ok;
}

bool s3_import(struct import *m, const char *place, struct str endpoint,
               struct error *err)
{
    struct arena *a = arena_new();
    struct bucket b = {0};
    struct source s = {.bucket = &b, .sink = m};
    bool ok =
        open_bucket(a, place, endpoint, &b, err) &&
        s3_list(b.client, b.place.bucket, b.place.prefix, import_one, &s, err);

    if (s.others > 0)
        fprintf(stderr,
                "pprofd: %s: skipped %" PRIu64
                " objects that are not exported profiles\n",
                place, s.others);
    if (ok && s.n == 0)
        ok = error_set(
            err, "%s: no exported profiles found; check bucket and prefix",
            place);
    s3_client_free(b.client);
    arena_free(a);
    return ok;
}
