/*
 * Java's heapz and contentionz text:
 *
 *     --- heapz 1 ---
 *     format = java
 *     resolution = bytes
 *       7048      1 @ 0x00000003 0x00000004 …       bytes, blocks, stack
 *     …
 *     0x00000003 com.example.function003 (Source003.java:103)
 *     …
 *
 * Addresses are nothing but keys into the list at the end.  A Java CPU
 * profile has the same list behind its binary samples.
 */
#include "base/goparse.h"
#include "base/i64.h"
#include "base/path.h"
#include "base/utf8.h"
#include "profile/aggregate.h"
#include "profile/check.h"
#include "profile/heap_scale.h"
#include "profile/legacy_common.h"

enum java_kind { JAVA_HEAP, JAVA_CONTENTION };

#define JAVA_HEAP_RATE 524288

/*
 * The next line that is not blank, trimmed, without taking it off *text; the
 * blank ones are.  A last line without newline does not count here: it is
 * left for the list of locations.
 */
static bool peek_line(struct str *text, struct str *line)
{
    ptrdiff_t end;

    while ((end = str_find_char(*text, '\n')) >= 0) {
        *line = utf8_trim(str_first(*text, (size_t)end));
        if (line->n)
            return true;
        *text = str_skip(*text, (size_t)end + 1);
    }
    return false;
}

static void take_line(struct str *text)
{
    *text = str_skip(*text, (size_t)str_find_char(*text, '\n') + 1);
}

static bool is_attribute_char(char c)
{
    return c == ' ' || c == '_' || scan_is_digit(c) || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* "words = words" anywhere in the line. */
static bool find_attribute(struct str line, struct str *key, struct str *value)
{
    for (size_t at = 0; at < line.n; at++) {
        struct str right = str_skip(line, at + 1);
        size_t start = at;

        if (line.s[at] != '=')
            continue;
        while (start > 0 && is_attribute_char(line.s[start - 1]))
            start--;
        *value = scan_run(&right, is_attribute_char);
        if (start == at || !value->n)
            continue;
        *key = utf8_trim(str_of(line.s + start, at - start));
        *value = utf8_trim(*value);
        return true;
    }
    return false;
}

static bool set_types(struct legacy *l, enum java_kind kind, struct str unit)
{
    string_id id;

    if (!legacy_intern(l, unit, &id))
        return false;
    l->profile->types.n = 0; /* the last resolution counts */
    if (kind == JAVA_HEAP) {
        legacy_add_type(l, STR("inuse_objects"), STR("count"));
        legacy_add_type(l, STR("inuse_space"), unit);
    } else {
        legacy_add_type(l, STR("contentions"), STR("count"));
        legacy_add_type(l, STR("delay"), unit);
    }
    return true;
}

static enum legacy_result set_attribute(struct legacy *l, enum java_kind kind,
                                        struct str line, struct str key,
                                        struct str value)
{
    const char *what = "failed to parse attribute";
    int64_t number;

    if (str_eq(key, STR("format")))
        return str_eq(value, STR("java")) ? LEGACY_OK : LEGACY_NOT_MINE;
    if (str_eq(key, STR("resolution")))
        return set_types(l, kind, value) ? LEGACY_OK : LEGACY_FAILED;
    if (kind != JAVA_CONTENTION)
        return LEGACY_NOT_MINE;
    if (str_eq(key, STR("sampling period"))) {
        if (!legacy_number(l, value, 0, what, line, &number))
            return LEGACY_FAILED;
        legacy_set_period(l, STR("contentions"), STR("count"), number);
        return LEGACY_OK;
    }
    if (str_eq(key, STR("ms since reset"))) {
        if (!legacy_number(l, value, 0, what, line, &number))
            return LEGACY_FAILED;
        l->profile->duration_ns = i64_mul(number, 1000000);
        return LEGACY_OK;
    }
    return LEGACY_NOT_MINE;
}

static enum legacy_result read_attributes(struct legacy *l, enum java_kind kind,
                                          struct str *text)
{
    struct str line, key, value;

    while (peek_line(text, &line) && find_attribute(line, &key, &value)) {
        enum legacy_result result = set_attribute(l, kind, line, key, value);

        if (result != LEGACY_OK)
            return result;
        take_line(text);
    }
    return LEGACY_OK;
}

struct java_sample {
    struct str amount, count, addresses;
};

/* "AMOUNT COUNT @ addresses" anywhere in the line. */
static bool find_sample(struct str line, struct java_sample *out)
{
    struct str at;

    while (scan_next_digits(&line, &at)) {
        if (!scan_digits(&at, &out->amount) || !scan_char(&at, ' ') ||
            !scan_blanks(&at) || !scan_digits(&at, &out->count) ||
            !scan_char(&at, ' ') || !scan_blanks(&at) ||
            !scan_text(&at, STR("@ ")))
            continue;
        scan_blanks(&at);
        out->addresses = scan_address_list(&at);
        return true;
    }
    return false;
}

static bool read_sample(struct legacy *l, enum java_kind kind, struct str line,
                        const struct java_sample *s)
{
    int64_t period = l->profile->period, count, amount;

    if (!legacy_frames(l, s->addresses, PLAIN_ADDRESSES, line) ||
        !legacy_number(l, s->count, 0, "parsing sample", line, &count) ||
        !legacy_number(l, s->amount, 0, "parsing sample", line, &amount))
        return false;
    if (kind == JAVA_HEAP) {
        if (count == 0)
            return error_set(l->err,
                             "parsing sample %" STR_FMT
                             ": second value must be non-zero",
                             STR_ARG(line));
        legacy_label_bytes(l, i64_div(amount, count));
        heap_scale(&count, &amount, JAVA_HEAP_RATE);
    } else if (period != 0) {
        count = i64_mul(count, period);
        amount = i64_mul(amount, period);
    }
    return legacy_end_sample(l, (int64_t[]){count, amount});
}

static bool read_samples(struct legacy *l, enum java_kind kind,
                         struct str *text)
{
    struct java_sample s;
    struct str line;

    while (peek_line(text, &line) && find_sample(line, &s)) {
        if (!read_sample(l, kind, line, &s))
            return false;
        take_line(text);
    }
    return true;
}

struct java_frame {
    struct str function, file;
    int64_t line;
};

/* The last "(" with a space in front whose inside, up to `end`, has at least
 * `least` bytes; its position or -1. */
static ptrdiff_t find_parenthesis(struct str text, size_t end, size_t least)
{
    for (size_t at = end; at-- > 1;)
        if (text.s[at] == '(' && scan_is_space(text.s[at - 1]) &&
            end - at - 1 >= least)
            return (ptrdiff_t)at;
    return -1;
}

/* "function (file:line)" */
static bool match_file_line(struct str text, struct java_frame *f)
{
    size_t end = text.n - 1, start = end;
    ptrdiff_t open;

    while (start > 0 && scan_is_digit(text.s[start - 1]))
        start--;
    if (start == end)
        return false;
    if (start > 0 && text.s[start - 1] == '-')
        start--;
    if (start == 0 || text.s[start - 1] != ':')
        return false;
    open = find_parenthesis(text, start - 1, 1);
    if (open < 0)
        return false;
    f->function = str_first(text, (size_t)open - 1);
    f->file = str_of(text.s + open + 1, start - 1 - (size_t)open - 1);
    if (goparse_int(str_of(text.s + start, end - start), 10, 64, &f->line) !=
            GOPARSE_OK ||
        f->line < 0)
        f->line = 0;
    return true;
}

/* "function (path)" */
static bool match_path(struct str text, struct java_frame *f)
{
    ptrdiff_t open = find_parenthesis(text, text.n - 1, 0);

    if (open < 0)
        return false;
    f->function = str_first(text, (size_t)open - 1);
    f->file =
        path_base(str_of(text.s + open + 1, text.n - 1 - (size_t)open - 1));
    return true;
}

static struct java_frame parse_frame(struct str text)
{
    struct java_frame f = {0};

    if (text.n && text.s[text.n - 1] == ')' &&
        (match_file_line(text, &f) || match_path(text, &f)))
        return f;
    f.function =
        str_contains(text, STR("generated stub/JIT")) ? STR("STUB") : text;
    return f;
}

/* Functions by name: the first file wins. */
struct function_table {
    struct legacy *legacy;
    struct map by_name;
};

static bool find_function(struct function_table *t, const struct java_frame *f,
                          uint32_t *out)
{
    struct profile *p = t->legacy->profile;
    struct function fn = {0};
    struct map_cursor c;

    if (!legacy_intern(t->legacy, f->function, &fn.name))
        return false;
    c = map_find(&t->by_name, map_mix(0, fn.name));
    while (map_next(&t->by_name, &c)) {
        if (p->functions.v[c.record].name == fn.name) {
            *out = c.record;
            return true;
        }
    }
    if (!legacy_intern(t->legacy, f->file, &fn.filename))
        return false;
    fn.system_name = fn.name;
    *out = (uint32_t)p->functions.n;
    map_add(&t->by_name, &c, *out);
    *vec_push(p->arena, &p->functions) = fn;
    return true;
}

/* The location stands for the frame; its address has served. */
static bool set_frame(struct function_table *t, uint32_t location,
                      const struct java_frame *f)
{
    struct profile *p = t->legacy->profile;
    struct location *loc = &p->locations.v[location];
    uint32_t function;

    if (!find_function(t, f, &function))
        return false;
    if (!loc->n_lines) {
        loc->line_start = (uint32_t)p->lines.n;
        loc->n_lines = 1;
        vec_push(p->arena, &p->lines);
    }
    p->lines.v[loc->line_start] =
        (struct line){.function = function, .line = f->line};
    loc->address = 0;
    return true;
}

/* "0xADDRESS TEXT"; other lines are ignored. */
static bool read_location(struct function_table *t, struct str line)
{
    struct legacy *l = t->legacy;
    struct str rest = line, hex;
    struct java_frame frame;
    uint32_t location;
    uint64_t address;

    if (!scan_text(&rest, STR("0x")) || !scan_hex(&rest, &hex) ||
        !scan_spaces(&rest))
        return true;
    if (!str_to_u64(hex, 16, &address))
        return error_set(l->err,
                         "parsing sample %" STR_FMT
                         ": strconv.ParseUint: parsing \"%" STR_FMT
                         "\": value out of range",
                         STR_ARG(line), STR_ARG(hex));
    location = legacy_find_location(l, address);
    if (location == NO_INDEX)
        return true;
    frame = parse_frame(rest);
    return set_frame(t, location, &frame);
}

enum legacy_result legacy_java_locations(struct legacy *l, struct str text)
{
    static const struct granularity no_addresses = {
        .inlines = true, .function = true, .filename = true, .line = true};
    struct function_table functions = {.legacy = l};
    struct str line;

    map_init(&functions.by_name, l->scratch, 0);
    while (str_split(&text, '\n', &line))
        if (!read_location(&functions, utf8_trim(line)))
            return LEGACY_FAILED;
    legacy_finish(l);
    profile_aggregate(l->profile, no_addresses);
    return profile_check(l->profile, l->err) ? LEGACY_OK : LEGACY_FAILED;
}

enum legacy_result legacy_parse_java(struct legacy *l, struct str bytes)
{
    ptrdiff_t newline = str_find_char(bytes, '\n');
    enum legacy_result result;
    enum java_kind kind;
    struct str title;

    if (newline < 0)
        return LEGACY_NOT_MINE;
    title = utf8_trim(str_first(bytes, (size_t)newline));
    if (str_eq(title, STR("--- heapz 1 ---")))
        kind = JAVA_HEAP;
    else if (str_eq(title, STR("--- contentionz 1 ---")))
        kind = JAVA_CONTENTION;
    else
        return LEGACY_NOT_MINE;

    bytes = str_skip(bytes, (size_t)newline + 1);
    result = read_attributes(l, kind, &bytes);
    if (result != LEGACY_OK)
        return result;
    if (!read_samples(l, kind, &bytes))
        return LEGACY_FAILED;
    return legacy_java_locations(l, bytes);
}
