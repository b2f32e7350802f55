/*
 * A recursive-descent parser over one line of text.  It is small because the
 * grammar is: an optional name, then comma-separated matchers in braces.
 */
#include "collector/query/selector.h"

#include <stdlib.h>
#include <string.h>

#include "regex/regex.h"

/* Regular expressions are untrusted; RE2 is linear in the text, and its program
 * is bounded by the length of the expression. */
#define MAX_VALUE_BYTES 4096

struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
    struct selector *out;
    struct error *err;
};

static bool fail(struct parser *p, const char *what)
{
    return error_set(p->err, "bad selector at column %zu: %s", p->at + 1, what);
}

static char peek(const struct parser *p)
{
    return p->at < p->text.n ? p->text.s[p->at] : '\0';
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.n && memchr(" \t\r\n", p->text.s[p->at], 4) != NULL)
        p->at++;
}

static bool is_name_char(char c, bool in_type)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' ||
           (in_type && (c == '-' || c == '.' || c == '/' || c == ':'));
}

static struct str take_name(struct parser *p, bool is_type)
{
    size_t start = p->at;

    while (is_name_char(peek(p), is_type))
        p->at++;
    return str_of(p->text.s + start, p->at - start);
}

/* What follows a backslash, as one byte; -1 if that is no escape. */
static int escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case '\\':
    case '"':
    case '\'':
        return c;
    default:
        return -1;
    }
}

static bool take_quoted(struct parser *p, struct str *out)
{
    char quote = peek(p);
    char *to = arena_alloc(p->arena, p->text.n - p->at + 1);
    size_t n = 0;

    for (p->at++; p->at < p->text.n; p->at++) {
        char c = p->text.s[p->at];

        if (c == quote) {
            p->at++;
            if (n > MAX_VALUE_BYTES)
                return fail(p, "the value is longer than 4096 bytes");
            *out = str_of(to, n);
            return true;
        }
        if (c == '\\' && quote != '`') {
            int byte =
                p->at + 1 < p->text.n ? escaped(p->text.s[p->at + 1]) : -1;

            if (byte < 0)
                return fail(p, "unknown escape; known are \\\\ \\\" \\' \\n "
                               "\\r \\t, and ` quotes need none");
            c = (char)byte;
            p->at++;
        }
        to[n++] = c;
    }
    return fail(p, "the quote is not closed");
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static bool take_operator(struct parser *p, enum store_op *out)
{
    static const struct {
        struct str text;
        enum store_op op;
    } operators[] = {
        {STR_INIT("=~"), STORE_MATCH},
        {STR_INIT("!~"), STORE_NO_MATCH},
        {STR_INIT("!="), STORE_NOT_EQUAL},
        {STR_INIT("="), STORE_EQUAL},
    };
    struct str rest = str_skip(p->text, p->at);

    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (str_has_prefix(rest, operators[i].text)) {
            p->at += operators[i].text.n;
            *out = operators[i].op;
            return true;
        }
    return fail(p, "expected =, !=, =~ or !~");
}

static bool matches_regex(void *arg, struct str value)
{
    return regex_matches(arg, value);
}

static bool add_regex(struct parser *p, struct store_matcher *m)
{
    const char *whole =
        arena_printf(p->arena, "^(?s:%" STR_FMT ")$", STR_ARG(m->value));
    struct error reason;

    m->arg = regex_new(str_from(whole), &reason);
    m->matches = matches_regex;
    if (!m->arg) {
        /* Say what is wrong with the expression as it was written. */
        struct regex *alone = regex_new(m->value, &reason);

        regex_free(alone);
        return fail(p, reason.text);
    }
    return true;
}

static struct store_matcher *push(struct selector *s, struct arena *a)
{
    if (!s->matchers)
        s->matchers =
            arena_new_array(a, struct store_matcher, SELECTOR_MAX_MATCHERS);
    return s->n < SELECTOR_MAX_MATCHERS ? &s->matchers[s->n++] : NULL;
}

static enum store_field field_of(struct str name)
{
    if (str_eq(name, STR("service")))
        return STORE_SERVICE;
    if (str_eq(name, STR("__type__")) || str_eq(name, STR("__name__")))
        return STORE_TYPE;
    return STORE_LABEL;
}

static bool take_matcher(struct parser *p)
{
    struct store_matcher *m;
    struct str name;

    if (is_quote(peek(p))) {
        if (!take_quoted(p, &name))
            return false;
    } else {
        name = take_name(p, false);
    }
    if (name.n == 0)
        return fail(p, "expected the name of a label");
    m = push(p->out, p->arena);
    if (!m)
        return fail(p, "more than 64 conditions");
    m->field = field_of(name);
    m->key = m->field == STORE_LABEL ? name : (struct str){0};
    skip_space(p);
    if (!take_operator(p, &m->op))
        return false;
    skip_space(p);
    if (!is_quote(peek(p)))
        return fail(p, "expected a value in quotes");
    if (!take_quoted(p, &m->value))
        return false;
    return (m->op != STORE_MATCH && m->op != STORE_NO_MATCH) || add_regex(p, m);
}

static bool take_matchers(struct parser *p)
{
    p->at++; /* the brace */
    for (;;) {
        skip_space(p);
        if (peek(p) == '}') {
            p->at++;
            return true;
        }
        if (!take_matcher(p))
            return false;
        skip_space(p);
        if (peek(p) == ',')
            p->at++;
        else if (peek(p) != '}')
            return fail(p, p->at < p->text.n ? "expected , or }"
                                             : "the } is missing");
    }
}

static bool parse(struct parser *p)
{
    struct str type;

    skip_space(p);
    type = take_name(p, true);
    if (type.n > 0)
        selector_require(p->out, p->arena, STORE_TYPE, STR(""),
                         arena_str(p->arena, type));
    skip_space(p);
    if (peek(p) == '{' && !take_matchers(p))
        return false;
    skip_space(p);
    if (p->at < p->text.n)
        return fail(p, "expected TYPE{label=\"value\",…}");
    return true;
}

bool selector_parse(struct selector *out, struct arena *a, struct str text,
                    struct error *err)
{
    struct parser p = {.arena = a, .text = text, .out = out, .err = err};

    *out = (struct selector){0};
    if (parse(&p))
        return true;
    selector_release(out);
    return false;
}

void selector_release(struct selector *s)
{
    for (size_t i = 0; i < s->n; i++)
        regex_free(s->matchers[i].arg);
    s->n = 0;
}

static struct str required(const struct selector *s, enum store_field field)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->matchers[i].field == field && s->matchers[i].op == STORE_EQUAL)
            return s->matchers[i].value;
    return STR("");
}

struct str selector_service(const struct selector *s)
{
    return required(s, STORE_SERVICE);
}

struct str selector_type(const struct selector *s)
{
    return required(s, STORE_TYPE);
}

bool selector_require(struct selector *s, struct arena *a,
                      enum store_field field, struct str key, struct str value)
{
    struct store_matcher *m = push(s, a);

    if (m)
        *m = (struct store_matcher){
            .field = field, .op = STORE_EQUAL, .key = key, .value = value};
    return m != NULL;
}

/* --- canonical form -------------------------------------------------------
 */

static int compare(const void *left, const void *right)
{
    const struct store_matcher *a = left, *b = right;
    int by_key;

    if (a->field != b->field)
        return a->field < b->field ? -1 : 1;
    by_key = str_cmp(a->key, b->key);
    if (by_key != 0)
        return by_key;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return str_cmp(a->value, b->value);
}

static bool is_plain_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_name_char(name.s[i], false))
            return false;
    return name.n > 0 && field_of(name) == STORE_LABEL;
}

static void add_quoted(struct buf *out, struct str value)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < value.n; i++) {
        char c = value.s[i];
        char letter = c == '\n'               ? 'n'
                      : c == '\r'             ? 'r'
                      : c == '\t'             ? 't'
                      : c == '"' || c == '\\' ? c
                                              : '\0';

        if (letter)
            buf_add_char(out, '\\');
        buf_add_char(out, letter ? letter : c);
    }
    buf_add_char(out, '"');
}

static void add_matcher(struct buf *out, const struct store_matcher *m)
{
    static const char *const operators[] = {[STORE_EQUAL] = "=",
                                            [STORE_NOT_EQUAL] = "!=",
                                            [STORE_MATCH] = "=~",
                                            [STORE_NO_MATCH] = "!~"};

    if (m->field == STORE_SERVICE)
        buf_add(out, STR("service"));
    else if (m->field == STORE_TYPE)
        buf_add(out, STR("__type__"));
    else if (is_plain_name(m->key))
        buf_add(out, m->key);
    else
        add_quoted(out, m->key);
    buf_add(out, str_from(operators[m->op]));
    add_quoted(out, m->value);
}

/* The type that can stand before the braces: the first one in order. */
static const struct store_matcher *
type_before_braces(const struct store_matcher *sorted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct store_matcher *m = &sorted[i];
        bool is_plain = m->value.n > 0;

        if (m->field != STORE_TYPE || m->op != STORE_EQUAL)
            continue;
        for (size_t k = 0; k < m->value.n; k++)
            is_plain &= is_name_char(m->value.s[k], true);
        return is_plain ? m : NULL;
    }
    return NULL;
}

void selector_format(const struct selector *s, struct arena *a, struct buf *out)
{
    struct store_matcher *sorted =
        arena_new_array(a, struct store_matcher, s->n + 1);
    const struct store_matcher *type;
    bool first = true;

    if (s->n > 0)
        memcpy(sorted, s->matchers, s->n * sizeof(*sorted));
    qsort(sorted, s->n, sizeof(*sorted), compare);
    type = type_before_braces(sorted, s->n);
    if (type)
        buf_add(out, type->value);
    buf_add_char(out, '{');
    for (size_t i = 0; i < s->n; i++) {
        const struct store_matcher *m = &sorted[i];

        if (m == type || (i > 0 && compare(m - 1, m) == 0))
            continue;
        if (!first)
            buf_add_char(out, ',');
        add_matcher(out, m);
        first = false;
    }
    buf_add_char(out, '}');
}
