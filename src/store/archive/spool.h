#ifndef STORE_ARCHIVE_SPOOL_H
#define STORE_ARCHIVE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * A queue of objects in a directory, for those that wait to be sent.
 *
 *     spool_add()     from any thread; writes to a file and returns
 *     spool_take()    the oldest object that nobody has taken; waits for one
 *     spool_finish()  it has been sent: forget it
 *
 * What is not finished when the spool ends, by spool_free() or a crash of the
 * process, is there again when it is opened the next time; some objects that
 * were finished may be, too.  Files are not synced: a failure of the machine
 * may cost the last seconds.
 *
 * Objects are records of files of a few MB, named by increasing numbers.  A
 * file is deleted when all of its objects are finished.
 */
struct spool;

struct spool_item {
    struct str key, bytes; /* views of `room` */
    struct buf room;
    void *file;
};

struct spool_stats {
    uint64_t objects, bytes; /* not finished */
    uint64_t damaged;        /* files that could not be read to their end */
};

/* Creates the directory if necessary, and finds the objects that are left
 * there.  `max_bytes` bounds the size of all files. */
struct spool *spool_open(const char *dir, uint64_t max_bytes,
                         struct error *err);

/* No other call may be running.  NULL is allowed. */
void spool_free(struct spool *s);

/* False: the spool is full, with the code ENOSPC, or the file cannot be
 * written. */
bool spool_add(struct spool *s, struct str key, struct str bytes,
               struct error *err);

/* False after spool_stop(). */
bool spool_take(struct spool *s, struct spool_item *out);

/* Forgets the object if `is_sent`; frees the item in any case. */
void spool_finish(struct spool *s, struct spool_item *item, bool is_sent);

/* Ends all spool_take(). */
void spool_stop(struct spool *s);

void spool_get_stats(struct spool *s, struct spool_stats *out);

/* --- records -------------------------------------------------------------- */

#define SPOOL_HEADER    24
#define SPOOL_KEY_MAX   ((uint64_t)64 << 10)
#define SPOOL_BYTES_MAX ((uint64_t)1 << 32)

/* Writes the header of a record; key and bytes follow it. */
void spool_header_write(unsigned char out[SPOOL_HEADER], struct str key,
                        struct str bytes);

/* The lengths in a header; false if it is not a header. */
bool spool_header_read(const unsigned char in[SPOOL_HEADER], uint64_t *key_n,
                       uint64_t *bytes_n);

/* Returns true if these are the key and bytes that the header was written
 * for. */
bool spool_header_fits(const unsigned char in[SPOOL_HEADER], struct str key,
                       struct str bytes);

#endif
