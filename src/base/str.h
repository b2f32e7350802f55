#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A view of bytes that it does not own: not NUL-terminated, never freed.  An
 * empty view may have s == NULL.
 */
struct str {
    const char *s;
    size_t n;
};

/* STR("literal"), and STR_INIT for static tables. */
#define STR(lit) ((struct str){"" lit, sizeof(lit) - 1})
#define STR_INIT(lit)                                                          \
    {                                                                          \
        "" lit, sizeof(lit) - 1                                                \
    }

/* printf("%" STR_FMT, STR_ARG(s)) */
#define STR_FMT    ".*s"
#define STR_ARG(x) (int)(x).n, (x).s

static inline struct str str_from(const char *z)
{
    return (struct str){z, z ? strlen(z) : 0};
}

static inline struct str str_of(const char *s, size_t n)
{
    return (struct str){s, n};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

/* The same with ASCII letters of either case alike. */
bool str_eq_nocase(struct str a, struct str b);

/* Bytewise order, as Go compares strings: <0, 0, >0. */
int str_cmp(struct str a, struct str b);

bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);

/* Index of the first (last) occurrence, or -1. */
ptrdiff_t str_find(struct str s, struct str needle);
ptrdiff_t str_find_char(struct str s, char c);
ptrdiff_t str_rfind_char(struct str s, char c);
bool str_contains(struct str s, struct str needle);

struct str str_skip(struct str s, size_t n);  /* without the first n bytes */
struct str str_first(struct str s, size_t n); /* the first n bytes */
struct str str_trim(struct str s);            /* no ASCII space at the ends */

/* Takes the text up to `sep` off the front of *rest; false when none is
 * left.  "a,,b" gives a, "", b; "" gives nothing. */
bool str_split(struct str *rest, char sep, struct str *out);

/* Takes the next line (without LF or CRLF) off the front of *rest. */
bool str_next_line(struct str *rest, struct str *out);

/* What a digit or letter of either case counts in bases up to 36; 99 for any
 * other character. */
int str_digit(char c);

/* Whole-text numbers: digits only (with an optional sign for i64), nothing
 * around them, in range; false otherwise. */
bool str_to_u64(struct str s, int base, uint64_t *out);
bool str_to_i64(struct str s, int base, int64_t *out);

uint64_t str_hash(struct str s);

/* A different hash for each seed: for untrusted texts. */
uint64_t str_hash_seeded(struct str s, uint64_t seed);

#endif
