#ifndef ELF_CURSOR_H
#define ELF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Reads little-endian numbers from untrusted bytes.
 *
 * A read past the end gives 0 and sets `bad`, which stays set: read a whole
 * record, then ask once.
 */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static inline struct cursor cursor_of(const void *p, size_t n)
{
    if (!p)
        return (struct cursor){NULL, NULL, n != 0};
    return (struct cursor){p, (const uint8_t *)p + n, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline bool cursor_skip(struct cursor *c, uint64_t n)
{
    if (n > cursor_left(c)) {
        c->at = c->end;
        c->bad = true;
        return false;
    }
    if (n)
        c->at += n;
    return true;
}

static inline void cursor_copy(struct cursor *c, void *out, size_t n)
{
    const uint8_t *from = c->at;

    if (cursor_skip(c, n))
        memcpy(out, from, n);
    else
        memset(out, 0, n);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    if (c->at == c->end) {
        c->bad = true;
        return 0;
    }
    return *c->at++;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    uint16_t v;

    cursor_copy(c, &v, sizeof(v));
    return v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    uint32_t v;

    cursor_copy(c, &v, sizeof(v));
    return v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    uint64_t v;

    cursor_copy(c, &v, sizeof(v));
    return v;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t b;

    if (c->at != c->end && *c->at < 0x80) /* nearly always */
        return *c->at++;
    do {
        b = cursor_u8(c);
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    return v;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t b;

    do {
        b = cursor_u8(c);
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    if (shift < 64 && (b & 0x40))
        v |= ~(uint64_t)0 << shift;
    return (int64_t)v;
}

/* The bytes up to a NUL, which is skipped; bad when there is none. */
static inline const char *cursor_cstr(struct cursor *c)
{
    const char *s = (const char *)c->at;

    while (c->at != c->end)
        if (*c->at++ == 0)
            return s;
    c->bad = true;
    return "";
}

#endif
