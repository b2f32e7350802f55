/*
 * Scans each line by hand for the two forms that google/pprof knows by regular
 * expressions: a map is often most of a legacy profile, and its lines differ
 * in many small ways.  Where those expressions accept odd text, so do we,
 * because a mapping that is missed leaves addresses without a binary.  Lines
 * are rewritten first where they contain $names; that is bounded, see below.
 */
#include "profile/memory_map.h"

#include <string.h>

#include "base/utf8.h"

/*
 * What substitution may cost: a text of ten bytes can stand for any number
 * of long ones, and every $ is compared with every name.  Ordinary maps have
 * a handful of names.
 */
#define MAX_COMPARISONS 100000000

#define MAX_MAPPINGS (1 << 24)

struct variable {
    struct str name; /* with the $ */
    struct str value;
};

struct reader {
    struct legacy *legacy;
    VEC(struct variable) variables;
    size_t comparisons;
    struct buf line;   /* after substitution */
    size_t line_bytes; /* of all lines that needed substitution */
};

bool memory_map_starts(struct str line)
{
    return str_contains(line, STR("--- Memory map: ---")) ||
           str_contains(line, STR("MAPPED_LIBRARIES:"));
}

/* Without "anything:123] ", if there is no bracket before. */
static struct str skip_log_prefix(struct str line)
{
    size_t at = 0, digits;

    while (at < line.n && line.s[at] != '[' && line.s[at] != ']')
        at++;
    if (at + 1 >= line.n || line.s[at] != ']' || !scan_is_space(line.s[at + 1]))
        return line;
    for (digits = at; digits > 0 && scan_is_digit(line.s[digits - 1]);)
        digits--;
    if (digits == at || digits < 2 || line.s[digits - 1] != ':')
        return line;
    return str_skip(line, at + 2);
}

/* The first variable defined that the text starts with. */
static const struct variable *find_variable(struct reader *r, struct str text)
{
    for (size_t i = 0; i < r->variables.n; i++) {
        const struct variable *v = &r->variables.v[i];

        r->comparisons += 1 + v->name.n / 16;
        if (str_has_prefix(text, v->name))
            return v;
    }
    return NULL;
}

static bool substitute(struct reader *r, struct str *line)
{
    size_t budget = r->legacy->limits->string_bytes;
    struct str rest = *line;
    ptrdiff_t dollar;

    if (!r->variables.n || str_find_char(rest, '$') < 0)
        return true;
    buf_clear(&r->line);
    r->line.max = budget - r->line_bytes;
    while ((dollar = str_find_char(rest, '$')) >= 0) {
        const struct variable *v;

        buf_add(&r->line, str_first(rest, (size_t)dollar));
        rest = str_skip(rest, (size_t)dollar);
        v = find_variable(r, rest);
        buf_add(&r->line, v ? v->value : str_first(rest, 1));
        rest = str_skip(rest, v ? v->name.n : 1);
    }
    buf_add(&r->line, rest);
    if (!buf_ok(&r->line))
        return error_set(r->legacy->err,
                         "memory map: more than %zu bytes after substitution",
                         budget);
    if (r->comparisons > MAX_COMPARISONS)
        return error_set(r->legacy->err, "memory map: too many substitutions");
    *line = buf_str(&r->line);
    r->line_bytes += line->n;
    return true;
}

struct entry {
    struct str start, limit, perm, offset, file, build_id;
};

static bool is_perm(char c)
{
    return c == '-' || c == 'r' || c == 'w' || c == 'x' || c == 'p';
}

static bool is_word(char c)
{
    return !scan_is_space(c);
}

/* Spaces and then at least one character of the class; *s and *out stay when
 * that is not there. */
static bool scan_field(struct str *s, bool (*belongs)(char), struct str *out)
{
    struct str rest = *s, field;

    if (!scan_spaces(&rest))
        return false;
    field = scan_run(&rest, belongs);
    if (!field.n)
        return false;
    *s = rest;
    *out = field;
    return true;
}

/* The same for a whole word: what follows is a space. */
static bool scan_word(struct str *s, bool (*belongs)(char), struct str *out)
{
    struct str rest = *s, word;

    if (!scan_field(&rest, belongs, &word) || !rest.n ||
        !scan_is_space(rest.s[0]))
        return false;
    *s = rest;
    *out = word;
    return true;
}

/* Hexadecimal digits with or without 0x in front. */
static bool scan_hex_0x(struct str *s, struct str *out)
{
    struct str rest = *s;

    if (scan_text(&rest, STR("0x")) && scan_hex(&rest, out)) {
        *s = rest;
        return true;
    }
    return scan_hex(s, out);
}

/* START, a space or -, LIMIT, a colon perhaps. */
static bool scan_range(struct str *s, struct entry *e)
{
    scan_spaces(s);
    if (!scan_hex_0x(s, &e->start))
        return false;
    if (!scan_char(s, '-') && !scan_spaces(s))
        return false;
    scan_spaces(s);
    if (!scan_hex_0x(s, &e->limit))
        return false;
    scan_char(s, ':');
    return true;
}

/*
 * The same without anything in between: the last digit of the run is LIMIT
 * then, or what follows it if that is "x1f" behind a 0.  (No program writes
 * that, but other readers accept such text.)
 */
static bool scan_joined_range(struct str *s, struct entry *e)
{
    struct str digits, behind;

    scan_spaces(s);
    if (!scan_hex_0x(s, &digits) || digits.n < 2)
        return false;
    e->start = str_first(digits, digits.n - 1);
    e->limit = str_skip(digits, digits.n - 1);
    behind = *s;
    if (e->limit.s[0] == '0' && scan_char(&behind, 'x') && behind.n &&
        scan_is_hex(behind.s[0])) {
        *s = behind;
        scan_hex(s, &e->limit);
    }
    scan_char(s, ':');
    return true;
}

typedef bool (*range_scanner)(struct str *s, struct entry *e);

/* "00:1f": device numbers. */
static bool scan_hex_pair(struct str *s)
{
    struct str digits;

    return scan_spaces(s) && scan_hex(s, &digits) && scan_char(s, ':') &&
           scan_hex(s, &digits);
}

/* RANGE [perm] [offset] MAJOR:MINOR inode [file] */
static bool match_proc_maps(struct str line, range_scanner range,
                            struct entry *e)
{
    struct str inode;

    *e = (struct entry){0};
    if (!range(&line, e))
        return false;
    scan_word(&line, is_perm, &e->perm);
    scan_word(&line, scan_is_hex, &e->offset);
    if (!scan_hex_pair(&line) || !scan_field(&line, scan_is_digit, &inode))
        return false;
    scan_field(&line, is_word, &e->file);
    return true;
}

/* RANGE [perm] [file] [(@OFFSET)] [build id] */
static bool match_brief(struct str line, range_scanner range, struct entry *e)
{
    struct str rest, offset;

    *e = (struct entry){0};
    if (!range(&line, e))
        return false;
    scan_field(&line, is_perm, &e->perm);
    scan_field(&line, is_word, &e->file);
    rest = line;
    if (scan_spaces(&rest) && scan_text(&rest, STR("(@")) &&
        scan_hex(&rest, &offset) && scan_char(&rest, ')')) {
        e->offset = offset;
        line = rest;
    }
    scan_field(&line, scan_is_hex, &e->build_id);
    return true;
}

static bool match_entry(struct str line, struct entry *e)
{
    return match_proc_maps(line, scan_range, e) ||
           match_proc_maps(line, scan_joined_range, e) ||
           match_brief(line, scan_range, e) ||
           match_brief(line, scan_joined_range, e);
}

static bool entry_numbers(const struct entry *e, struct mapping *m)
{
    return str_to_u64(e->start, 16, &m->start) &&
           str_to_u64(e->limit, 16, &m->limit) &&
           (!e->offset.n || str_to_u64(e->offset, 16, &m->offset));
}

/* A name=value line; the texts are copied, they may be in r->line. */
static void define_variable(struct reader *r, struct str line)
{
    struct arena *a = r->legacy->scratch;
    ptrdiff_t at = str_find_char(line, '=');
    struct str name;
    char *with_dollar;

    if (at < 0)
        return;
    name = utf8_trim(str_first(line, (size_t)at));
    with_dollar = arena_alloc(a, name.n + 1);
    with_dollar[0] = '$';
    if (name.n)
        memcpy(with_dollar + 1, name.s, name.n);
    *vec_push(a, &r->variables) = (struct variable){
        .name = str_of(with_dollar, name.n + 1),
        .value = arena_str(a, utf8_trim(str_skip(line, (size_t)at + 1))),
    };
}

static bool read_line(struct reader *r, struct str line)
{
    struct legacy *l = r->legacy;
    struct mapping m = {0};
    struct entry e;

    line = skip_log_prefix(line);
    if (!substitute(r, &line))
        return false;
    if (!match_entry(line, &e)) {
        define_variable(r, line);
        return true;
    }
    if (e.perm.n && str_find_char(e.perm, 'x') < 0)
        return true;
    if (!entry_numbers(&e, &m)) {
        define_variable(r, line);
        return true;
    }
    if (l->profile->mappings.n >= MAX_MAPPINGS)
        return error_set(l->err, "memory map: more than %d mappings",
                         MAX_MAPPINGS);
    if (!legacy_intern(l, e.file, &m.file) ||
        !legacy_intern(l, e.build_id, &m.build_id))
        return false;
    *vec_push(l->profile->arena, &l->profile->mappings) = m;
    return true;
}

/* Returns true if b continues where a ends, as far as is known. */
static bool adjacent(const struct mapping *a, const struct mapping *b)
{
    if (a->file && b->file && a->file != b->file)
        return false;
    if (a->build_id && b->build_id && a->build_id != b->build_id)
        return false;
    if (a->limit != b->start)
        return false;
    return !a->offset || !b->offset ||
           a->offset + (a->limit - a->start) == b->offset;
}

static void join_neighbours(struct profile *p)
{
    struct mapping *m = p->mappings.v;
    struct mapping *last = m;

    if (!p->mappings.n)
        return;
    for (size_t i = 1; i < p->mappings.n; i++) {
        if (!adjacent(last, &m[i])) {
            *++last = m[i];
            continue;
        }
        last->limit = m[i].limit;
        if (m[i].file)
            last->file = m[i].file;
        if (m[i].build_id)
            last->build_id = m[i].build_id;
    }
    p->mappings.n = (size_t)(last - m) + 1;
}

/* ".so" at the end, or ".so.6" or ".so_2" anywhere. */
static bool is_shared_library(struct str file)
{
    ptrdiff_t at;

    while ((at = str_find(file, STR(".so"))) >= 0) {
        file = str_skip(file, (size_t)at + 3);
        if (!file.n)
            return true;
        if (file.n > 1 && (file.s[0] == '.' || file.s[0] == '_') &&
            scan_is_digit(file.s[1]))
            return true;
    }
    return false;
}

static bool looks_like_main(struct str file, struct buf *scratch)
{
    const struct str deleted = STR("(deleted)");
    ptrdiff_t at;

    buf_clear(scratch);
    while ((at = str_find(file, deleted)) >= 0) {
        buf_add(scratch, str_first(file, (size_t)at));
        file = str_skip(file, (size_t)at + deleted.n);
    }
    buf_add(scratch, file);
    file = utf8_trim(buf_str(scratch));
    return file.n && file.s[0] != '[' && !is_shared_library(file);
}

static void move_main_to_front(struct profile *p, struct arena *a)
{
    struct mapping *m = p->mappings.v;
    struct buf scratch = arena_buf(a);
    size_t i = 0;

    while (i < p->mappings.n &&
           !looks_like_main(profile_str(p, m[i].file), &scratch))
        i++;
    if (i < p->mappings.n) {
        struct mapping first = m[0];

        m[0] = m[i];
        m[i] = first;
    }
    buf_release(&scratch);
}

bool memory_map_read(struct legacy *l, struct line_scanner *lines)
{
    struct reader r = {.legacy = l, .line = arena_buf(l->scratch)};
    bool ok = true;

    while (ok && line_scanner_next(lines))
        ok = read_line(&r, lines->line);
    buf_release(&r.line);
    if (!ok || !line_scanner_ok(lines, l->err))
        return false;
    join_neighbours(l->profile);
    move_main_to_front(l->profile, l->scratch);
    return true;
}

enum legacy_result legacy_finish_with_map(struct legacy *l,
                                          struct line_scanner *lines)
{
    while (!memory_map_starts(lines->line) && line_scanner_next(lines))
        ;
    if (!memory_map_read(l, lines))
        return LEGACY_FAILED;
    legacy_finish(l);
    return LEGACY_OK;
}
