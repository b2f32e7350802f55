/*
 * The getters.  Each one notes the key that it looked for in the map, so that
 * node_check_keys() finds unknown keys.
 */
#include "config/getters.h"

#include <float.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/goparse.h"
#include "base/size_text.h"
#include "base/time_text.h"
#include "config/node_error.h"
#include "config/suggest.h"

struct asked_keys {
    VEC(const char *) list;
};

/* --- keys ----------------------------------------------------------------- */

void node_ignore(const struct node *map, const char *key)
{
    struct arena *a = map->document->arena;
    struct node *m = (struct node *)map; /* what was asked is our own note */

    if (!m->asked)
        m->asked = arena_alloc(a, sizeof(*m->asked));
    for (size_t i = 0; i < m->asked->list.n; i++)
        if (strcmp(m->asked->list.v[i], key) == 0)
            return;
    *vec_push(a, &m->asked->list) = key;
}

const struct node *node_get(const struct node *map, const char *key)
{
    node_ignore(map, key);
    if (map->kind != NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (str_eq(map->keys[i], str_from(key)))
            return map->items[i]->kind == NODE_NULL ? NULL : map->items[i];
    return NULL;
}

static bool is_known(const struct node *map, struct str key)
{
    for (size_t i = 0; map->asked && i < map->asked->list.n; i++)
        if (str_eq(key, str_from(map->asked->list.v[i])))
            return true;
    return false;
}

static bool refuse_key(const struct node *map, size_t at, struct error *err)
{
    const struct node *value = map->items[at];
    const char *meant = NULL;

    if (map->asked)
        meant =
            suggest_word(map->keys[at], map->asked->list.v, map->asked->list.n);
    if (meant)
        return node_fail_key(value, err, "is not a known key: did you mean %s?",
                             meant);
    return node_fail_key(value, err, "is not a known key: remove it");
}

bool node_check_keys(const struct node *map, struct error *err)
{
    if (!node_is_map(map, err))
        return false;
    for (size_t i = 0; i < map->n; i++)
        if (!is_known(map, map->keys[i]))
            return refuse_key(map, i, err);
    return true;
}

/* --- single nodes --------------------------------------------------------- */

bool node_is_text(const struct node *n, struct str *out, struct error *err)
{
    if (n->kind != NODE_SCALAR)
        return node_fail(n, err, "must be a text");
    *out = n->text;
    return true;
}

bool node_is_map(const struct node *n, struct error *err)
{
    return n->kind == NODE_MAP ||
           node_fail(n, err, "must be a map: write key: value lines");
}

bool node_is_list(const struct node *n, struct error *err)
{
    return n->kind == NODE_LIST ||
           node_fail(n, err, "must be a list: write lines that start with -");
}

bool node_is_duration(const struct node *n, int64_t *ns, struct error *err)
{
    struct error ignored;
    int64_t value;
    uint64_t bare;

    /* A file says the unit; only 0 needs none.  A clamped value is refused: 292
     * years is a mistake. */
    if (n->kind != NODE_SCALAR ||
        (str_to_u64(n->text, 10, &bare) && bare != 0) ||
        !duration_parse(n->text, &value, &ignored) || value == INT64_MAX)
        return node_fail(n, err, "must be a duration: write 30s, 5m or 1h30m");
    *ns = value;
    return true;
}

bool node_is_bytes(const struct node *n, uint64_t *out, struct error *err)
{
    return (n->kind == NODE_SCALAR && size_parse(n->text, out)) ||
           node_fail(n, err, "must be a size: write 512KB, 64MB or 2GB");
}

/* --- values of a map ------------------------------------------------------ */

bool node_text(const struct node *map, const char *key, struct str *out,
               struct error *err)
{
    const struct node *n = node_get(map, key);

    return !n || node_is_text(n, out, err);
}

bool node_bool(const struct node *map, const char *key, bool *out,
               struct error *err)
{
    const struct node *n = node_get(map, key);
    bool is_plain = n && n->kind == NODE_SCALAR && !n->is_quoted;

    if (!n)
        return true;
    if (is_plain && str_eq(n->text, STR("true")))
        *out = true;
    else if (is_plain && str_eq(n->text, STR("false")))
        *out = false;
    else
        return node_fail(n, err, "must be true or false");
    return true;
}

bool node_int(const struct node *map, const char *key, int64_t min, int64_t max,
              int64_t *out, struct error *err)
{
    const struct node *n = node_get(map, key);
    int64_t value;

    if (!n)
        return true;
    if (n->kind != NODE_SCALAR || n->is_quoted ||
        !str_to_i64(n->text, 10, &value) || value < min || value > max)
        return node_fail(n, err, "must be a whole number from %lld to %lld",
                         (long long)min, (long long)max);
    *out = value;
    return true;
}

bool node_float(const struct node *map, const char *key, double *out,
                struct error *err)
{
    const struct node *n = node_get(map, key);
    double value;

    if (!n)
        return true;
    if (n->kind != NODE_SCALAR || n->is_quoted ||
        goparse_float(n->text, &value) != GOPARSE_OK ||
        !(value >= -DBL_MAX && value <= DBL_MAX))
        return node_fail(n, err, "must be a number");
    *out = value;
    return true;
}

bool node_duration(const struct node *map, const char *key, int64_t *ns,
                   struct error *err)
{
    const struct node *n = node_get(map, key);

    return !n || node_is_duration(n, ns, err);
}

bool node_bytes(const struct node *map, const char *key, uint64_t *out,
                struct error *err)
{
    const struct node *n = node_get(map, key);

    return !n || node_is_bytes(n, out, err);
}

static bool refuse_choice(const struct node *n, const char *const *words,
                          struct error *err)
{
    struct buf list = BUF_INIT(1024);
    size_t count = 0;
    const char *meant;

    while (words[count])
        count++;
    for (size_t i = 0; i < count; i++)
        buf_addf(&list, "%s%s",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 words[i]);
    meant = suggest_word(n->text, words, count);
    node_fail(n, err, "must be %s%s%s%s", buf_cstr(&list),
              meant ? ": did you mean " : "", meant ? meant : "",
              meant ? "?" : "");
    buf_release(&list);
    return false;
}

bool node_choice(const struct node *map, const char *key,
                 const char *const *words, size_t *out, struct error *err)
{
    const struct node *n = node_get(map, key);

    if (!n)
        return true;
    for (size_t i = 0; words[i]; i++)
        if (n->kind == NODE_SCALAR && str_eq(n->text, str_from(words[i]))) {
            *out = i;
            return true;
        }
    return refuse_choice(n, words, err);
}

bool node_list(const struct node *map, const char *key, const struct node **out,
               struct error *err)
{
    const struct node *n = node_get(map, key);

    if (!n)
        return true;
    if (!node_is_list(n, err))
        return false;
    *out = n;
    return true;
}

bool node_map(const struct node *map, const char *key, const struct node **out,
              struct error *err)
{
    const struct node *n = node_get(map, key);

    if (!n)
        return true;
    if (!node_is_map(n, err))
        return false;
    *out = n;
    return true;
}

bool node_text_list(const struct node *map, const char *key, struct arena *a,
                    struct node_texts *out, struct error *err)
{
    const struct node *n = node_get(map, key);
    struct node_texts texts = {0};
    struct str text;

    if (!n)
        return true;
    if (n->kind != NODE_LIST && !node_is_text(n, &text, err))
        return false;
    if (n->kind != NODE_LIST)
        *vec_push(a, &texts.list) = text;
    for (size_t i = 0; i < n->n; i++) {
        if (!node_is_text(n->items[i], &text, err))
            return false;
        *vec_push(a, &texts.list) = text;
    }
    *out = texts;
    return true;
}
