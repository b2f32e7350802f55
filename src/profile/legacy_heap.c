/*
 * Heap text of gperftools and tcmalloc:
 *
 *     heap profile: 12: 345 [67: 890] @ heap_v2/524288
 *     3: 120 [4: 160] @ 0x400110 0x400201 …
 *     …
 *     MAPPED_LIBRARIES:
 *     …
 *
 * Numbers are blocks and bytes, in use and (in brackets) allocated since the
 * start.  "growth" and "fragmentation" have the same shape.
 */
#include "base/i64.h"
#include "base/utf8.h"
#include "profile/heap_scale.h"
#include "profile/legacy_common.h"
#include "profile/memory_map.h"

struct heap_numbers {
    struct str used_count, used_bytes, alloc_count, alloc_bytes;
};

struct heap_header {
    bool sampled;
    bool has_alloc;
    int64_t rate;
};

/* "12: 345 [67: 890]" from the first digit on; the bytes in use may be
 * negative. */
static bool scan_numbers(struct str *s, struct heap_numbers *n)
{
    struct str digits, bytes;

    if (!scan_digits(s, &n->used_count) || !scan_char(s, ':') ||
        !scan_blanks(s))
        return false;
    bytes = *s;
    scan_char(s, '-');
    if (!scan_digits(s, &digits))
        return false;
    n->used_bytes = str_first(bytes, bytes.n - s->n);
    return scan_blanks(s) && scan_char(s, '[') && scan_blanks(s) &&
           scan_digits(s, &n->alloc_count) && scan_char(s, ':') &&
           scan_blanks(s) && scan_digits(s, &n->alloc_bytes) &&
           scan_blanks(s) && scan_char(s, ']');
}

static bool is_kind(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || scan_is_digit(c);
}

/* Behind the numbers: "@ heap_v2/524288". */
static bool scan_heap_kind(struct str *s, struct str *kind, struct str *rate)
{
    if (!scan_blanks(s) || !scan_char(s, '@') || !scan_blanks(s) ||
        !str_has_prefix(*s, STR("heap")))
        return false;
    *kind = scan_run(s, is_kind);
    scan_char(s, '/');
    *rate = scan_run(s, scan_is_digit);
    return true;
}

/* The numbers behind the next "heap profile:"; *line goes on behind them. */
static bool next_header(struct str *line, struct heap_numbers *n,
                        struct str *tail)
{
    const struct str title = STR("heap profile:");
    ptrdiff_t at;

    while ((at = str_find(*line, title)) >= 0) {
        *line = str_skip(*line, (size_t)at + title.n);
        *tail = *line;
        scan_blanks(tail);
        if (scan_numbers(tail, n) && n->used_bytes.s[0] != '-')
            return true;
    }
    return false;
}

static bool set_heap_kind(struct heap_header *h, struct str kind,
                          struct str rate)
{
    if (rate.n && !str_to_i64(rate, 10, &h->rate))
        return false;
    if (str_eq(kind, STR("heapz_v2")) || str_eq(kind, STR("heap_v2"))) {
        h->sampled = true;
    } else if (str_eq(kind, STR("heap"))) {
        h->sampled = true;
        h->rate /= 2; /* written as twice the rate */
    } else if (str_eq(kind, STR("heapprofile"))) {
        h->rate = 1;
    } else {
        return false;
    }
    return true;
}

/* Returns true if anything allocated is not in use.  Compared as text. */
static bool differs(struct str alloc, struct str used)
{
    return !str_eq(alloc, used) && !str_eq(alloc, STR("0"));
}

static bool is_growth_header(struct str line)
{
    struct heap_numbers n;
    struct str tail;

    while (next_header(&line, &n, &tail))
        if (str_has_prefix(tail, STR(" @ growth")) ||
            str_has_prefix(tail, STR(" @ fragmentation")))
            return true;
    return false;
}

static bool read_header(struct str line, struct heap_header *h)
{
    struct str rest = line, tail, kind, rate;
    struct heap_numbers n;

    *h = (struct heap_header){0};
    while (next_header(&rest, &n, &tail)) {
        if (!scan_heap_kind(&tail, &kind, &rate))
            continue;
        h->has_alloc = differs(n.alloc_count, n.used_count) ||
                       differs(n.alloc_bytes, n.used_bytes);
        return set_heap_kind(h, kind, rate);
    }
    h->rate = 1;
    return is_growth_header(line);
}

struct heap_sample {
    struct heap_numbers numbers;
    struct str addresses;
};

/* The first place in the line that has the shape of a sample. */
static bool find_sample(struct str line, struct heap_sample *out)
{
    const char *start = line.s;
    struct str at;

    while (scan_next_digits(&line, &at)) {
        bool negative = at.s > start && at.s[-1] == '-';

        if (!scan_numbers(&at, &out->numbers) || !scan_text(&at, STR(" @")))
            continue;
        out->addresses = scan_address_list(&at);
        if (negative) {
            out->numbers.used_count.s--;
            out->numbers.used_count.n++;
        }
        return true;
    }
    return false;
}

/*
 * Appends a pair of values, scaled if the profile was sampled.  *block is
 * the size of one, set if there are any.
 */
static bool add_values(struct legacy *l, const struct heap_header *h,
                       struct str line, const char *what, struct str count_text,
                       struct str bytes_text, int64_t *values, int64_t *block)
{
    int64_t count, bytes;

    if (!legacy_number(l, count_text, 10, "malformed sample:", line, &count) ||
        !legacy_number(l, bytes_text, 10, "malformed sample:", line, &bytes))
        return false;
    if (count == 0 && bytes != 0)
        return error_set(l->err, "%s count was 0 but %s bytes was %lld", what,
                         what, (long long)bytes);
    if (count != 0) {
        *block = i64_div(bytes, count);
        if (h->sampled)
            heap_scale(&count, &bytes, h->rate);
    }
    values[0] = count;
    values[1] = bytes;
    return true;
}

static bool read_sample(struct legacy *l, const struct heap_header *h,
                        struct str line)
{
    struct heap_sample s;
    const struct heap_numbers *n = &s.numbers;
    int64_t values[4], block = 0;
    size_t at = 0;

    if (!find_sample(line, &s))
        return error_set(l->err,
                         "unexpected number of sample values: got 0, want 6");
    if (h->has_alloc) {
        if (!add_values(l, h, line, "allocation", n->alloc_count,
                        n->alloc_bytes, values, &block))
            return false;
        at = 2;
    }
    if (!add_values(l, h, line, "inuse", n->used_count, n->used_bytes,
                    values + at, &block) ||
        !legacy_frames(l, s.addresses, RETURN_ADDRESSES, line))
        return false;
    legacy_label_bytes(l, block);
    return legacy_end_sample(l, values);
}

static void add_types(struct legacy *l, const struct heap_header *h)
{
    legacy_set_period(l, STR("space"), STR("bytes"), h->rate);
    if (h->has_alloc) {
        /* In use comes last because the last type is shown by default. */
        legacy_add_type(l, STR("alloc_objects"), STR("count"));
        legacy_add_type(l, STR("alloc_space"), STR("bytes"));
        legacy_add_type(l, STR("inuse_objects"), STR("count"));
        legacy_add_type(l, STR("inuse_space"), STR("bytes"));
    } else {
        legacy_add_type(l, STR("objects"), STR("count"));
        legacy_add_type(l, STR("space"), STR("bytes"));
    }
}

enum legacy_result legacy_parse_heap(struct legacy *l, struct str bytes)
{
    struct line_scanner lines = line_scanner_of(bytes);
    struct heap_header header;

    if (!line_scanner_next(&lines))
        return line_scanner_ok(&lines, l->err) ? LEGACY_NOT_MINE
                                               : LEGACY_FAILED;
    if (!read_header(lines.line, &header))
        return LEGACY_NOT_MINE;
    add_types(l, &header);
    while (line_scanner_next(&lines)) {
        struct str line = utf8_trim(lines.line);

        if (scan_is_blank_or_comment(line))
            continue;
        if (memory_map_starts(line))
            break;
        if (!read_sample(l, &header, line))
            return LEGACY_FAILED;
    }
    if (!line_scanner_ok(&lines, l->err))
        return LEGACY_FAILED;
    return legacy_finish_with_map(l, &lines);
}
