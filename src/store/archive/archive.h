#ifndef STORE_ARCHIVE_ARCHIVE_H
#define STORE_ARCHIVE_ARCHIVE_H

#include "store/archive/s3_client.h"
#include "store/store.h"

/*
 * Copies of stored profiles in a bucket, as they were sent, under the keys of
 * object_key.h.
 *
 * archive_add() writes a profile to a spool on disk and returns; threads send
 * what is there.  Failed requests are repeated until they succeed, with growing
 * pauses, across restarts.  Nobody waits for the bucket.  If it is unavailable
 * for so long that the spool is full, further profiles are counted and skipped:
 * they are in the store, and `pprofd export` to the same place adds them later.
 */
struct archive;

struct archive_options {
    struct s3_settings server; /* the texts are copied */
    struct str bucket;
    struct str prefix;    /* "" or "a/b/" */
    const char *dir;      /* of the spool */
    uint64_t max_bytes;   /* of the spool */
    unsigned connections; /* that send at the same time */
};

struct archive_stats {
    uint64_t waiting, waiting_bytes; /* in the spool */
    uint64_t sent, sent_bytes;       /* since start, like all below */
    uint64_t failures;               /* failed attempts to send; each is
                                        repeated */
    uint64_t full;       /* profiles left out: no room in the spool */
    uint64_t unwritable; /* … the spool could not be written */
    uint64_t long_keys;  /* … the key is longer than S3 allows */
    uint64_t damaged;    /* … records of the spool that were damaged */
    bool is_failing;     /* the last attempt failed */
};

struct archive *archive_new(const struct archive_options *o, struct error *err);

/* Sends waiting profiles, for at most `patience_ns` and only while that
 * succeeds; the rest stays in the spool.  NULL is allowed. */
void archive_free(struct archive *a, int64_t patience_ns);

/* From any thread; does not wait for the bucket.  `is_delta` as in
 * store_put. */
void archive_add(struct archive *a, const struct store_profile *p,
                 bool is_delta, struct str bytes);

void archive_get_stats(struct archive *a, struct archive_stats *out);

#endif
