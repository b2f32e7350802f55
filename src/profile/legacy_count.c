/*
 * Go's text profiles of things that are only counted:
 *
 *     goroutine profile: total 3
 *     2 @ 0x400110 0x400201
 *     …
 */
#include "base/goparse.h"
#include "profile/legacy_common.h"
#include "profile/memory_map.h"

/* "goroutine profile: total 3" and nothing else. */
static bool match_header(struct str line, struct str *name)
{
    size_t n = 0;
    struct str digits;

    while (n < line.n && !scan_is_space(line.s[n]))
        n++;
    *name = str_first(line, n);
    line = str_skip(line, n);
    return n && scan_text(&line, STR(" profile: total ")) &&
           scan_digits(&line, &digits) && !line.n;
}

/* "2 @ 0x400110 0x400201" and nothing else. */
static bool match_sample(struct str line, struct str *count, struct str *stack)
{
    if (!scan_digits(&line, count) || !scan_text(&line, STR(" @")))
        return false;
    *stack = line;
    do {
        if (!scan_text(&line, STR(" 0x")) ||
            !scan_run(&line, scan_is_lower_hex).n)
            return false;
    } while (line.n);
    return true;
}

static bool read_sample(struct legacy *l, struct str line)
{
    struct str count, stack;
    struct scan_address a;
    int64_t value;

    if (!match_sample(line, &count, &stack) ||
        goparse_int(count, 0, 64, &value) != GOPARSE_OK)
        return error_set(l->err, "malformed profile format");
    while (scan_next_address(&stack, &a)) {
        if (!a.fits)
            return error_set(l->err, "malformed profile format");
        if (!legacy_frame(l, a.value - 1))
            return false;
    }
    return legacy_end_sample(l, &value);
}

enum legacy_result legacy_parse_count(struct legacy *l, struct str bytes)
{
    struct line_scanner lines = line_scanner_of(bytes);
    struct str name;

    while (line_scanner_next(&lines) && scan_is_blank_or_comment(lines.line))
        ;
    if (!line_scanner_ok(&lines, l->err))
        return LEGACY_FAILED;
    if (!match_header(lines.line, &name))
        return LEGACY_NOT_MINE;
    legacy_set_period(l, name, STR("count"), 1);
    legacy_add_type(l, name, STR("count"));
    while (line_scanner_next(&lines)) {
        if (scan_is_blank_or_comment(lines.line))
            continue;
        if (str_has_prefix(lines.line, STR("---")))
            break;
        if (!read_sample(l, lines.line))
            return LEGACY_FAILED;
    }
    if (!line_scanner_ok(&lines, l->err))
        return LEGACY_FAILED;
    return legacy_finish_with_map(l, &lines);
}
