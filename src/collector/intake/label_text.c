/*
 * Unescaping happens twice on purpose: once by the URL and once here, as in
 * the original, whose clients escape twice.  A chunk is split at its first =,
 * trimmed, and only then unescaped, so that escaped blanks survive.
 */
#include "collector/intake/label_text.h"

#include <string.h>

#include "base/percent.h"
#include "base/vec.h"

/* Go quotes the bad escape: up to three characters from the percent sign. */
static bool bad_escape(struct str text, struct error *err)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] != '%')
            continue;
        if (i + 2 < text.n && str_digit(text.s[i + 1]) < 16 &&
            str_digit(text.s[i + 2]) < 16) {
            i += 2;
            continue;
        }
        text = str_skip(text, i);
        break;
    }
    if (text.n > 3)
        text = str_first(text, 3);
    return error_set(err, "invalid URL escape \"%" STR_FMT "\"", STR_ARG(text));
}

static bool unescape(struct arena *a, struct str text, struct str *out,
                     struct error *err)
{
    char *to = arena_alloc(a, text.n + 1);
    ptrdiff_t n = percent_decode(text, true, to);

    if (n < 0)
        return bad_escape(text, err);
    *out = str_of(to, (size_t)n);
    return true;
}

static bool parse_pair(struct arena *a, struct str pair,
                       struct store_label *out, struct error *err)
{
    ptrdiff_t equals = str_find_char(pair, '=');
    struct str key = equals < 0 ? pair : str_first(pair, (size_t)equals);
    struct str value =
        equals < 0 ? STR("") : str_skip(pair, (size_t)equals + 1);

    return unescape(a, str_trim(key), &out->key, err) &&
           unescape(a, str_trim(value), &out->value, err);
}

/* Stable, for few elements. */
static void sort_by_key(struct store_label *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct store_label moved = v[i];
        size_t to = i;

        for (; to > 0 && str_cmp(v[to - 1].key, moved.key) > 0; to--)
            v[to] = v[to - 1];
        v[to] = moved;
    }
}

bool labels_parse(struct labels *out, struct arena *a, struct str text,
                  struct error *err)
{
    VEC(struct store_label) found = {0};
    struct str pair;

    while (str_split(&text, ',', &pair)) {
        struct store_label label;

        if (!parse_pair(a, pair, &label, err))
            return false;
        if (found.n >= LABELS_MAX)
            return error_set(err, "more than %d labels", LABELS_MAX);
        if (label.key.n > 0)
            *vec_push(a, &found) = label;
    }
    sort_by_key(found.v, found.n);
    *out = (struct labels){found.v, found.n};
    return true;
}
