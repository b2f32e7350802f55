/*
 * Thread dumps:
 *
 *     --- threadz 1 ---
 *
 *     --- Thread 7f794ab90940 (name: main/14748) stack: ---
 *       PC:  0x00bc8f1c: helper(arguments)
 *     0x0040be31: main
 *     --- Memory map: ---
 *     …
 */
#include "base/i64.h"
#include "base/utf8.h"
#include "profile/legacy_common.h"
#include "profile/memory_map.h"

/* Contains "--- threadz 1 ---". */
static bool is_dump_header(struct str line)
{
    const struct str title = STR("--- threadz ");
    struct str digits;
    ptrdiff_t at;

    while ((at = str_find(line, title)) >= 0) {
        struct str rest = str_skip(line, (size_t)at + title.n);

        if (scan_digits(&rest, &digits) && scan_text(&rest, STR(" ---")))
            return true;
        line = rest;
    }
    return false;
}

/* Contains "/14748) stack: ---". */
static bool ends_thread_header(struct str text)
{
    const struct str tail = STR(") stack: ---");
    size_t from = 0;
    ptrdiff_t at;

    while ((at = str_find(str_skip(text, from), tail)) >= 0) {
        size_t end = from + (size_t)at, start = end;

        while (start > 0 && scan_is_digit(text.s[start - 1]))
            start--;
        if (start < end && start > 0 && text.s[start - 1] == '/')
            return true;
        from = end + tail.n;
    }
    return false;
}

/* Contains "--- Thread 7f794ab90940 (name: ANYTHING/14748) stack: ---". */
static bool is_thread_header(struct str line)
{
    const struct str title = STR("--- Thread ");
    struct str digits;
    ptrdiff_t at;

    while ((at = str_find(line, title)) >= 0) {
        line = str_skip(line, (size_t)at + title.n);
        if (scan_hex(&line, &digits) && scan_text(&line, STR(" (name: ")))
            return ends_thread_header(line);
    }
    return false;
}

/*
 * The lines of one thread up to the next that starts with ---, which is left
 * in *next (trimmed; at the end of the text the last line).  No frames are
 * open afterwards if the thread is the same as the one before.
 */
static bool read_stack(struct legacy *l, struct line_scanner *lines,
                       struct str *next)
{
    bool same_as_previous = false;

    *next = STR("");
    while (line_scanner_next(lines)) {
        *next = utf8_trim(lines->line);
        if (str_has_prefix(*next, STR("---")))
            break;
        if (str_contains(*next, STR("same as previous thread")))
            same_as_previous = true;
        else if (!legacy_frames(l, *next, LEAF_FIRST, *next))
            return false;
    }
    if (same_as_previous)
        legacy_drop_open_frames(l);
    return line_scanner_ok(lines, l->err);
}

static bool end_thread(struct legacy *l)
{
    struct profile *p = l->profile;
    const int64_t one = 1;

    if (l->open_frames > 0)
        return legacy_end_sample(l, &one);
    if (p->n_samples > 0) {
        int64_t *last = &p->values[p->n_samples - 1];

        *last = i64_add(*last, 1);
    }
    return true;
}

static enum legacy_result
read_threads(struct legacy *l, struct line_scanner *lines, struct str line)
{
    while (!memory_map_starts(line)) {
        if (str_has_prefix(line, STR("---- no stack trace for")))
            break;
        if (!is_thread_header(line))
            return LEGACY_NOT_MINE;
        if (!read_stack(l, lines, &line) || !end_thread(l))
            return LEGACY_FAILED;
    }
    return LEGACY_OK;
}

/* Goes to the first thread or the memory map behind the dump's header; the
 * last line when there is neither. */
static struct str skip_to_threads(struct line_scanner *lines)
{
    struct str line = lines->line;

    while (line_scanner_next(lines)) {
        line = lines->line;
        if (str_has_prefix(line, STR("-")) || memory_map_starts(line))
            break;
    }
    return line;
}

enum legacy_result legacy_parse_thread(struct legacy *l, struct str bytes)
{
    struct line_scanner lines = line_scanner_of(bytes);
    enum legacy_result result;
    struct str line;

    while (line_scanner_next(&lines) && scan_is_blank_or_comment(lines.line))
        ;
    line = lines.line;
    if (is_dump_header(line))
        line = skip_to_threads(&lines);
    else if (!is_thread_header(line))
        return LEGACY_NOT_MINE;
    legacy_set_period(l, STR("thread"), STR("count"), 1);
    legacy_add_type(l, STR("thread"), STR("count"));
    result = read_threads(l, &lines, line);
    if (result == LEGACY_OK)
        result = legacy_finish_with_map(l, &lines);
    if (result == LEGACY_OK)
        legacy_drop_duplicate_leaves(l->profile);
    return result;
}
