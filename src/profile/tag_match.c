/*
 * An expression is either a numeric range ("1kb:2mb") or a list of regular
 * expressions on "key:value" texts.  Equal labels occur in many samples, so
 * each different (key, value) pair is matched once and its answers are kept as
 * bits; a sample then only combines bits.
 */
#include "profile/tag_match.h"

#include <math.h>
#include <stdlib.h>

#include "profile/sweep.h"
#include "regex/regex.h"

struct range {
    double low, high;
    struct str unit;
};

/* A string label that was seen: its expressions' answers are bits[record]. */
struct pair {
    string_id key, value;
};

struct tag_match {
    struct arena *arena;
    const struct profile *p;
    const struct label_units *units;
    bool any_key;
    string_id key; /* NO_INDEX: the profile has no such label */

    bool is_range;
    struct range range;
    VEC(struct measure) conversions;
    uint32_t *conversion_of; /* by the key's string id: 1 + index */

    VEC(struct regex *) expressions;
    struct map index; /* of pairs */
    VEC(struct pair) pairs;
    VEC(uint64_t) bits; /* `words` for each pair */
    size_t words;
    uint64_t *found; /* answers for one sample */
};

/*
 * Ranges.
 */

struct bound {
    struct str digits, unit;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes a number with an optional unit off the front of *text. */
static bool parse_bound(struct str *text, struct bound *out)
{
    size_t i = 0, digits;

    if (text->n && (text->s[0] == '+' || text->s[0] == '-'))
        i++;
    digits = i;
    while (i < text->n && is_digit(text->s[i]))
        i++;
    if (i == digits)
        return false;
    out->digits = str_first(*text, i);
    *text = str_skip(*text, i);
    for (i = 0; i < text->n && is_letter(text->s[i]);)
        i++;
    out->unit = str_first(*text, i);
    *text = str_skip(*text, i);
    return true;
}

static bool number_of(struct bound b, int64_t *out, struct error *err)
{
    return str_to_i64(b.digits, 10, out) ||
           error_set(err, "%" STR_FMT " is out of range", STR_ARG(b.digits));
}

/* "low:high" with one or both of the numbers; *colon says if there is one. */
static bool parse_bounds(struct str text, struct bound *low, struct bound *high,
                         bool *colon)
{
    bool has_low = parse_bound(&text, low), has_high;

    *colon = str_has_prefix(text, STR(":"));
    if (*colon)
        text = str_skip(text, 1);
    has_high = parse_bound(&text, high);
    return text.n == 0 && (has_low || has_high) && (*colon || !has_high);
}

/*
 * Returns true if it is a range, and fills *range.  The unit is that of the
 * first number, under its usual name; a second number of another family makes
 * it none.
 */
static bool parse_range(struct str text, struct range *range, bool *is_range,
                        struct error *err)
{
    struct bound low = {0}, high = {0}, first;
    int64_t value;
    double scaled;
    struct str unit;
    bool colon;

    *is_range = false;
    if (!parse_bounds(text, &low, &high, &colon))
        return true;
    first = low.digits.n ? low : high;
    if (!number_of(first, &value, err))
        return false;
    scaled = measure_scale(value, first.unit, first.unit, &range->unit);
    range->low = low.digits.n ? scaled : -INFINITY;
    range->high = colon && low.digits.n ? INFINITY : scaled;
    if (low.digits.n && high.digits.n) {
        if (!number_of(high, &value, err))
            return false;
        range->high = measure_scale(value, high.unit, range->unit, &unit);
        if (!str_eq(unit, range->unit))
            return true;
    }
    *is_range = true;
    return true;
}

static const struct measure *conversion(struct tag_match *m, string_id key)
{
    if (!m->conversion_of[key]) {
        measure_init(vec_push(m->arena, &m->conversions),
                     label_units_of(m->units, m->p, key), m->range.unit);
        m->conversion_of[key] = (uint32_t)m->conversions.n;
    }
    return &m->conversions.v[m->conversion_of[key] - 1];
}

static bool in_range(struct tag_match *m, const struct label *label)
{
    struct str unit;
    double value =
        measure_convert(conversion(m, label->key), label->num, &unit);

    return str_eq(unit, m->range.unit) && value >= m->range.low &&
           value <= m->range.high;
}

static bool range_matches(struct tag_match *m, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct label *label = &m->p->labels[i];

        if (label->kind != LABEL_STRING &&
            (m->any_key || label->key == m->key) && in_range(m, label))
            return true;
    }
    return false;
}

/*
 * Regular expressions.  Each is asked once about each pair of key and value.
 */

static bool add_expressions(struct tag_match *m, struct str list,
                            struct error *err)
{
    for (;;) {
        ptrdiff_t comma = str_find_char(list, ',');
        struct str pattern = comma < 0 ? list : str_first(list, (size_t)comma);
        struct regex *re = regex_new(pattern, err);

        if (!re)
            return false;
        *vec_push(m->arena, &m->expressions) = re;
        if (comma < 0)
            return true;
        list = str_skip(list, (size_t)comma + 1);
    }
}

static void ask(const struct tag_match *m, struct pair pair, uint64_t *answers)
{
    struct buf text = arena_buf(m->arena);

    if (m->any_key) {
        buf_add(&text, profile_str(m->p, pair.key));
        buf_add_char(&text, ':');
    }
    buf_add(&text, profile_str(m->p, pair.value));
    for (size_t i = 0; i < m->expressions.n; i++)
        if (regex_matches(m->expressions.v[i], buf_str(&text)))
            answers[i / 64] |= (uint64_t)1 << i % 64;
    buf_release(&text);
}

static const uint64_t *answers_for(struct tag_match *m, struct pair pair)
{
    struct map_cursor c =
        map_find(&m->index, map_mix(map_mix(0, pair.key), pair.value));

    while (map_next(&m->index, &c))
        if (m->pairs.v[c.record].key == pair.key &&
            m->pairs.v[c.record].value == pair.value)
            return m->bits.v + c.record * m->words;
    map_add(&m->index, &c, (uint32_t)m->pairs.n);
    *vec_push(m->arena, &m->pairs) = pair;
    vec_reserve(m->arena, &m->bits, m->words);
    m->bits.n += m->words;
    ask(m, pair, m->bits.v + m->bits.n - m->words);
    return m->bits.v + m->bits.n - m->words;
}

static bool expressions_match(struct tag_match *m, size_t from, size_t to)
{
    size_t n = 0;

    memset(m->found, 0, m->words * sizeof(*m->found));
    for (size_t i = from; i < to; i++) {
        const struct label *label = &m->p->labels[i];
        const uint64_t *answers;

        if (label->kind != LABEL_STRING ||
            (!m->any_key && label->key != m->key))
            continue;
        answers = answers_for(m, (struct pair){label->key, label->str});
        for (size_t w = 0; w < m->words; w++)
            m->found[w] |= answers[w];
    }
    for (size_t w = 0; w < m->words; w++)
        n += (size_t)__builtin_popcountll(m->found[w]);
    return m->any_key ? n == m->expressions.n : n > 0;
}

static bool compile(struct tag_match *m, const char *name, struct str value,
                    struct buf *notes, struct error *err)
{
    if (!parse_range(value, &m->range, &m->is_range, err))
        return error_wrap(err, "parsing %s range %" STR_FMT, name,
                          STR_ARG(value));
    if (m->is_range) {
        m->conversion_of = arena_new_array(m->arena, uint32_t, m->p->strings.n);
        buf_addf(notes, "%s:Interpreted '%" STR_FMT "' as range, not regexp\n",
                 name, STR_ARG(value));
        return true;
    }
    if (!add_expressions(m, value, err))
        return error_wrap(err, "parsing %s regexp", name);
    m->words = (m->expressions.n + 63) / 64;
    m->found = arena_new_array(m->arena, uint64_t, m->words);
    map_init(&m->index, m->arena, 0);
    return true;
}

struct tag_match *tag_match_new(const char *name, struct str expression,
                                const struct profile *p,
                                const struct label_units *units,
                                struct buf *notes, struct error *err)
{
    struct arena *a = arena_new();
    struct tag_match *m = arena_alloc(a, sizeof(*m));
    struct str value = arena_str(a, expression), key = STR("");
    ptrdiff_t equals = str_find_char(value, '=');

    m->arena = a;
    m->p = p;
    m->units = units;
    if (equals >= 0) {
        key = str_first(value, (size_t)equals);
        value = str_skip(value, (size_t)equals + 1);
    }
    m->any_key = key.n == 0;
    m->key = profile_find_string(p, key);
    if (!compile(m, name, value, notes, err)) {
        tag_match_free(m);
        return NULL;
    }
    return m;
}

void tag_match_free(struct tag_match *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->expressions.n; i++)
        regex_free(m->expressions.v[i]);
    arena_free(m->arena);
}

static bool matches_labels(struct tag_match *m, size_t from, size_t to)
{
    return m->is_range ? range_matches(m, from, to)
                       : expressions_match(m, from, to);
}

struct tag_filter_matched profile_filter_tags(struct profile *p,
                                              struct tag_match *focus,
                                              struct tag_match *ignore)
{
    struct tag_filter_matched matched = {0};
    struct sweep s;

    sweep_init(&s, p);
    while (sweep_next(&s)) {
        bool focused = !focus || matches_labels(focus, s.label, s.label_end);
        bool ignored = ignore && matches_labels(ignore, s.label, s.label_end);

        matched.focus |= focused;
        matched.ignore |= ignored;
        if (focused && !ignored)
            sweep_keep(&s);
    }
    return matched;
}
