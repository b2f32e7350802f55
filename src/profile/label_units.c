/*
 * Units of numeric labels, found in one pass over all samples.  Keys usually
 * have one unit; the first one seen is used, and the others are listed for a
 * warning.
 */
#include <stdlib.h>

#include "base/search.h"
#include "profile/measure.h"

/*
 * A key has few units, mostly one, while samples may be a million: what was
 * seen is remembered by string id, and only a new pair costs more than a
 * look at that.
 */
struct pair {
    string_id key, unit;
};

struct finder {
    struct arena *arena;
    const struct profile *p;
    struct label_units *out;
    uint32_t *unit_of; /* by the key's string id: 1 + index in out->units */
    struct map index;  /* of pairs */
    VEC(struct pair) pairs;
};

static struct label_unit *unit_of_key(struct finder *f, string_id key)
{
    if (!f->unit_of[key]) {
        *vec_push(f->arena, &f->out->units) = (struct label_unit){.key = key};
        f->unit_of[key] = (uint32_t)f->out->units.n;
    }
    return &f->out->units.v[f->unit_of[key] - 1];
}

static void remember_other(struct finder *f, struct pair pair)
{
    struct map_cursor c =
        map_find(&f->index, map_mix(map_mix(0, pair.key), pair.unit));

    while (map_next(&f->index, &c))
        if (f->pairs.v[c.record].key == pair.key &&
            f->pairs.v[c.record].unit == pair.unit)
            return;
    map_add(&f->index, &c, (uint32_t)f->pairs.n);
    *vec_push(f->arena, &f->pairs) = pair;
}

static void see_label(struct finder *f, const struct label *label)
{
    struct label_unit *u;
    struct str unit;

    if (label->kind == LABEL_STRING)
        return;
    u = unit_of_key(f, label->key);
    if (label->kind != LABEL_MEASURE || label->str == 0)
        return;
    unit = profile_str(f->p, label->str);
    if (u->unit.n == 0)
        u->unit = unit;
    else if (!str_eq(u->unit, unit))
        remember_other(f, (struct pair){label->key, label->str});
}

static struct str usual_unit(struct str key)
{
    if (str_eq(key, STR("alignment")) || str_eq(key, STR("request")))
        return STR("bytes");
    return key;
}

static int compare_pairs(const void *x, const void *y, void *arg)
{
    const struct pair *a = x, *b = y;
    const struct profile *p = arg;
    int order = str_cmp(profile_str(p, a->key), profile_str(p, b->key));

    if (order)
        return order;
    return str_cmp(profile_str(p, a->unit), profile_str(p, b->unit));
}

static int compare_units(const void *x, const void *y, void *arg)
{
    const struct label_unit *a = x, *b = y;
    const struct profile *p = arg;

    return str_cmp(profile_str(p, a->key), profile_str(p, b->key));
}

/* The pairs are sorted like the keys: a run of them belongs to one key. */
static size_t join_others(struct finder *f, struct label_unit *u, size_t at)
{
    struct buf text = arena_buf(f->arena);

    for (; at < f->pairs.n && f->pairs.v[at].key == u->key; at++) {
        if (text.len)
            buf_add(&text, STR(", "));
        buf_add(&text, profile_str(f->p, f->pairs.v[at].unit));
    }
    u->others = buf_str(&text);
    return at;
}

void label_units_find(struct label_units *out, struct arena *a,
                      const struct profile *p)
{
    struct finder f = {.arena = a, .p = p, .out = out};
    size_t at = 0;

    *out = (struct label_units){0};
    f.unit_of = arena_new_array(a, uint32_t, p->strings.n);
    map_init(&f.index, a, 0);
    for (size_t i = 0; i < p->label_start[p->n_samples]; i++)
        see_label(&f, &p->labels[i]);
    if (out->units.n == 0)
        return;
    qsort_r(out->units.v, out->units.n, sizeof(*out->units.v), compare_units,
            (void *)p);
    if (f.pairs.n)
        qsort_r(f.pairs.v, f.pairs.n, sizeof(*f.pairs.v), compare_pairs,
                (void *)p);
    for (size_t i = 0; i < out->units.n; i++) {
        struct label_unit *u = &out->units.v[i];

        at = join_others(&f, u, at);
        if (u->unit.n == 0)
            u->unit = usual_unit(profile_str(p, u->key));
    }
}

struct str label_units_of(const struct label_units *units,
                          const struct profile *p, string_id key)
{
    struct str wanted = profile_str(p, key);
    const struct label_unit *v = units->units.v;
    size_t n = units->units.n;
    size_t at =
        search_first(i, 0, n, str_cmp(profile_str(p, v[i].key), wanted) >= 0);

    return at < n && v[at].key == key ? v[at].unit : wanted;
}
