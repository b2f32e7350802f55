/*
 * Growth by half, so that appending stays linear.  All failures end in one
 * flag, which is why no append needs a check.
 */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) char *grow(struct buf *b, size_t n)
{
    size_t need, cap;
    char *data;

    if (b->failed)
        return NULL;
    if (n > b->max || b->len > b->max - n) {
        b->failed = true;
        return NULL;
    }
    need = b->len + n;
    cap = b->cap ? b->cap : n < 64 ? 64 : n; /* first what is asked for */
    while (cap < need)
        cap += cap / 2;
    data = b->resize ? b->resize(b->arena, b->data, b->cap, cap)
                     : realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return NULL;
    }
    b->data = data;
    b->cap = cap;
    return b->data + b->len;
}

/* Small enough to be inlined below: most bytes come one by one. */
char *buf_reserve(struct buf *b, size_t n)
{
    assert(b->len <= b->cap && b->len <= b->max);
    if (b->failed || !b->data || n > b->cap - b->len || n > b->max - b->len)
        return grow(b, n); /* reserving nothing gives memory, too */
    return b->data + b->len;
}

void buf_add_bytes(struct buf *b, const void *data, size_t n)
{
    char *to;

    if (n == 0)
        return;
    to = buf_reserve(b, n);
    if (!to)
        return;
    memcpy(to, data, n);
    b->len += n;
}

void buf_add(struct buf *b, struct str s)
{
    buf_add_bytes(b, s.s, s.n);
}

void buf_add_char(struct buf *b, char c)
{
    char *to = buf_reserve(b, 1);

    if (to) {
        *to = c;
        b->len++;
    }
}

void buf_add_pad(struct buf *b, char c, size_t n)
{
    char *to = buf_reserve(b, n);

    if (to && n) {
        memset(to, c, n);
        b->len += n;
    }
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    char *to;
    int n;

    va_copy(again, ap);
    to = buf_reserve(b, 64);
    n = to ? vsnprintf(to, 64, fmt, ap) : -1;
    if (n >= 64) {
        to = buf_reserve(b, (size_t)n + 1);
        if (to)
            vsnprintf(to, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    if (to && n > 0)
        b->len += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(b, fmt, ap);
    va_end(ap);
}

const char *buf_cstr(struct buf *b)
{
    char *end = buf_reserve(b, 1);

    if (!end)
        return "";
    *end = '\0';
    return b->data;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

void buf_release(struct buf *b)
{
    if (b->resize)
        b->resize(b->arena, b->data, b->cap, 0);
    else
        free(b->data);
    *b = (struct buf){.max = b->max, .arena = b->arena, .resize = b->resize};
}
