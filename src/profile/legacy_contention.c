/*
 * Lock contention text of C++ and Go programs:
 *
 *     --- contentionz 1 ---
 *     cycles/second = 3201000000
 *     sampling period = 100
 *     ms since reset = 16502830
 *     discarded samples = 0
 *       19490304       27 @ 0xbccc97 0xc61202 …     cycles, times, stack
 *     …
 */
#include "base/goparse.h"
#include "base/i64.h"
#include "base/number.h"
#include "base/utf8.h"
#include "profile/legacy_common.h"
#include "profile/memory_map.h"

struct attributes {
    int64_t cycles_per_second;
    int64_t period;
    int64_t ms_since_reset;
};

static bool is_header(struct str line)
{
    return str_has_prefix(line, STR("--- contentionz ")) ||
           str_has_prefix(line, STR("--- mutex:")) ||
           str_has_prefix(line, STR("--- contention:"));
}

/* False for an attribute that such profiles do not have. */
static bool set_attribute(struct attributes *a, struct str key, struct str text)
{
    int64_t *out;

    if (str_eq(key, STR("cycles/second")))
        out = &a->cycles_per_second;
    else if (str_eq(key, STR("sampling period")))
        out = &a->period;
    else if (str_eq(key, STR("ms since reset")))
        out = &a->ms_since_reset;
    else
        return str_eq(key, STR("discarded samples"));
    return goparse_int(text, 0, 64, out) == GOPARSE_OK;
}

/* Up to the first line without "=" or with "---", which stays current. */
static bool read_attributes(struct line_scanner *lines, struct attributes *a)
{
    while (line_scanner_next(lines)) {
        struct str line = utf8_trim(lines->line);
        ptrdiff_t at = str_find_char(line, '=');

        if (scan_is_blank_or_comment(line))
            continue;
        if (str_has_prefix(line, STR("---")) || at < 0)
            break;
        if (!set_attribute(a, utf8_trim(str_first(line, (size_t)at)),
                           utf8_trim(str_skip(line, (size_t)at + 1))))
            return false;
    }
    return true;
}

struct contention_sample {
    struct str delay, count, addresses;
};

/*
 * "DELAY COUNT @ addresses" in the line.  Nothing between the numbers is a
 * match too: the last digit is the count then.
 */
static bool find_sample(struct str line, struct contention_sample *out)
{
    struct str at;

    while (scan_next_digits(&line, &at)) {
        struct str delay, count;

        scan_digits(&at, &delay);
        if (scan_text(&at, STR(" @")) && delay.n > 1) {
            count = str_skip(delay, delay.n - 1);
            delay.n--;
        } else if (!scan_blanks(&at) || !scan_digits(&at, &count) ||
                   !scan_text(&at, STR(" @"))) {
            continue;
        }
        *out = (struct contention_sample){delay, count, scan_address_list(&at)};
        return true;
    }
    return false;
}

static enum legacy_result
read_sample(struct legacy *l, const struct attributes *a, struct str line)
{
    const char *what = "malformed sample:";
    struct contention_sample s;
    int64_t delay, count;

    if (!find_sample(line, &s))
        return LEGACY_NOT_MINE;
    if (!legacy_number(l, s.delay, 10, what, line, &delay) ||
        !legacy_number(l, s.count, 10, what, line, &count))
        return LEGACY_FAILED;
    if (a->period > 0) {
        if (a->cycles_per_second > 0) {
            double ghz = (double)a->cycles_per_second / 1e9;

            delay = number_trunc((double)delay * (double)a->period / ghz);
        }
        count = i64_mul(count, a->period);
    }
    if (!legacy_frames(l, s.addresses, RETURN_ADDRESSES, line) ||
        !legacy_end_sample(l, (int64_t[]){count, delay}))
        return LEGACY_FAILED;
    return LEGACY_OK;
}

/* From the current line on. */
static enum legacy_result read_samples(struct legacy *l,
                                       struct line_scanner *lines,
                                       const struct attributes *a)
{
    do {
        struct str line = utf8_trim(lines->line);
        enum legacy_result result;

        if (str_has_prefix(line, STR("---")))
            break;
        if (scan_is_blank_or_comment(line))
            continue;
        result = read_sample(l, a, line);
        if (result != LEGACY_OK)
            return result;
    } while (line_scanner_next(lines));
    return line_scanner_ok(lines, l->err) ? LEGACY_OK : LEGACY_FAILED;
}

enum legacy_result legacy_parse_contention(struct legacy *l, struct str bytes)
{
    struct line_scanner lines = line_scanner_of(bytes);
    struct attributes a = {.period = 1};
    enum legacy_result result;

    if (!line_scanner_next(&lines) || !is_header(lines.line) ||
        !read_attributes(&lines, &a))
        return LEGACY_NOT_MINE;
    if (!line_scanner_ok(&lines, l->err))
        return LEGACY_FAILED;
    legacy_set_period(l, STR("contentions"), STR("count"), a.period);
    legacy_add_type(l, STR("contentions"), STR("count"));
    legacy_add_type(l, STR("delay"), STR("nanoseconds"));
    l->profile->duration_ns = i64_mul(a.ms_since_reset, 1000000);
    result = read_samples(l, &lines, &a);
    if (result != LEGACY_OK)
        return result;
    return legacy_finish_with_map(l, &lines);
}
