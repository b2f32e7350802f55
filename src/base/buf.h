#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/*
 * A growing byte buffer for output.
 *
 * Appending cannot be checked call by call: when memory or the size limit
 * runs out the buffer turns `failed`, keeps what it has, and ignores further
 * appends.  Write everything, then ask buf_ok() once.
 *
 *     struct buf b = BUF_INIT(MAX_REPORT_BYTES);
 *     buf_addf(&b, "%d samples\n", n);
 *     …
 *     buf_release(&b);
 *
 * The bytes are on the heap, or in an arena if arena_buf() made the buffer;
 * those of an arena end with it at the latest.
 */
struct arena;

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max; /* appends past this many bytes fail */
    bool failed;
    struct arena *arena; /* the arena that owns the memory; NULL: the heap */
    /* Resizes the memory from cap to new_cap bytes and returns it, or NULL on
     * failure; new_cap 0 frees it.  A function pointer, because libpprof has
     * buffers but no arenas.  NULL: realloc and free. */
    char *(*resize)(struct arena *a, char *data, size_t cap, size_t new_cap);
};

/* Each use needs a reason: tests/lint/bufs.py requires a comment that starts
 * with "no limit:" on the same line or above. */
#define BUF_NO_LIMIT ((size_t)-1 / 4)

/* For src/cmd only: the user decides how large a tool's output is, and if
 * memory runs out, only the user's own process ends. */
#define BUF_OF_TOOL BUF_NO_LIMIT

#define BUF_INIT(limit) ((struct buf){.max = (limit)})

void buf_add(struct buf *b, struct str s);
void buf_add_bytes(struct buf *b, const void *data, size_t n);
void buf_add_char(struct buf *b, char c);
void buf_add_pad(struct buf *b, char c, size_t n); /* n times c */
void buf_addf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);

/* Room for n more bytes at data + len; NULL when that fails.  The caller
 * writes them and adds to len. */
char *buf_reserve(struct buf *b, size_t n);

/* The bytes as a NUL-terminated string, valid until the next append. */
const char *buf_cstr(struct buf *b);

static inline struct str buf_str(const struct buf *b)
{
    return str_of(b->data, b->len);
}

static inline bool buf_ok(const struct buf *b)
{
    return !b->failed;
}

void buf_clear(struct buf *b);   /* no bytes, memory kept, failure forgotten */
void buf_release(struct buf *b); /* no bytes, no memory; usable again */

#endif
