/*
 * The pieces are one sorted array: there are a few hundred, and what costs
 * time is to ask the store.  The number of changes is read before the store is
 * asked, so a profile that comes in between makes the piece old at once.
 */
#include "collector/query/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "collector/context.h"

struct pieces *pieces_new(void)
{
    struct pieces *p = calloc(1, sizeof(*p));

    if (!p)
        abort(); /* as an arena does */
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void drop_all(struct pieces *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i].points);
    arena_free(p->arena);
    p->n = p->n_points = 0;
    p->arena = NULL;
}

void pieces_free(struct pieces *p)
{
    if (!p)
        return;
    drop_all(p);
    free(p->v);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void pieces_begin(struct pieces *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->arena)
        return;
    p->arena = arena_new();
    p->groups.v = NULL;
    p->groups.n = p->groups.cap = 0;
    map_init(&p->index, p->arena, 0);
}

void pieces_end(struct pieces *p, int64_t now_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].used_ns + HOUR >= now_ns) {
            p->v[kept++] = p->v[i];
        } else {
            p->n_points -= p->v[i].n;
            free(p->v[i].points);
        }
    }
    p->n = kept;
    if (p->n_points > PIECES_MAX_POINTS || p->groups.n > PIECES_MAX_POINTS / 8)
        drop_all(p);
    pthread_mutex_unlock(&p->lock);
}

/* --- one piece ------------------------------------------------------------ */

static int64_t order_of(const struct piece *x, const struct piece *y)
{
    if (x->step_ns != y->step_ns)
        return x->step_ns - y->step_ns;
    if (x->length_ns != y->length_ns)
        return x->length_ns - y->length_ns;
    return x->start_ns - y->start_ns;
}

/* Where it is, or would be. */
static size_t place_of(const struct pieces *p, const struct piece *key)
{
    return search_first(i, 0, p->n, order_of(&p->v[i], key) >= 0);
}

static bool make_room(struct pieces *p)
{
    size_t cap = p->cap ? 2 * p->cap : 256;
    struct piece *grown;

    if (p->n < p->cap)
        return true;
    grown = realloc(p->v, cap * sizeof(*grown));
    if (!grown)
        return false;
    p->v = grown;
    p->cap = cap;
    return true;
}

static bool find_or_add(struct pieces *p, const struct piece *key)
{
    size_t at = place_of(p, key);

    if (at < p->n && order_of(&p->v[at], key) == 0)
        return true;
    if (!make_room(p))
        return false;
    memmove(&p->v[at + 1], &p->v[at], (p->n - at) * sizeof(p->v[0]));
    p->v[at] = *key;
    p->n++;
    return true;
}

/* --- asking --------------------------------------------------------------- */

struct answer {
    struct pieces *p;
    struct arena *arena;
    VEC(struct piece_point) points;
    uint32_t last; /* group */
};

static bool is_group(const struct piece_group *g, const struct store_point *x)
{
    return str_eq(g->service, x->service) && str_eq(g->group, x->group) &&
           str_eq(g->profile_type, x->profile_type) &&
           str_eq(g->type, x->type) && str_eq(g->unit, x->unit);
}

static uint32_t group_of(struct answer *k, const struct store_point *x)
{
    struct pieces *p = k->p;
    uint64_t hash = str_hash_seeded(x->service, p->index.seed);
    struct map_cursor c;

    if (k->last < p->groups.n && is_group(&p->groups.v[k->last], x))
        return k->last;
    hash = str_hash_seeded(x->group, str_hash_seeded(x->profile_type, hash));
    hash = str_hash_seeded(x->unit, str_hash_seeded(x->type, hash));
    c = map_find(&p->index, hash);
    while (map_next(&p->index, &c))
        if (is_group(&p->groups.v[c.record], x))
            return k->last = c.record;
    k->last = (uint32_t)p->groups.n;
    map_add(&p->index, &c, k->last);
    *vec_push(p->arena, &p->groups) = (struct piece_group){
        .service = arena_str(p->arena, x->service),
        .profile_type = arena_str(p->arena, x->profile_type),
        .group = arena_str(p->arena, x->group),
        .type = arena_str(p->arena, x->type),
        .unit = arena_str(p->arena, x->unit)};
    return k->last;
}

static bool take_point(void *arg, const struct store_point *x)
{
    struct answer *k = arg;

    *vec_push(k->arena, &k->points) =
        (struct piece_point){.group = group_of(k, x),
                             .t_ns = x->t_ns,
                             .sum = x->sum,
                             .duration_ns = x->duration_ns,
                             .newest_ns = x->newest_ns,
                             .profiles = x->profiles};
    return true;
}

static size_t piece_of(const struct pieces_range *range,
                       const struct piece *first, int64_t t_ns)
{
    return range->step_ns == 0
               ? 0
               : (size_t)((t_ns - first->start_ns) / range->length_ns);
}

/* Gives the points to `n` pieces, which follow each other in time. */
static bool hand_over(struct answer *k, const struct pieces_range *range,
                      struct piece *first, size_t n)
{
    size_t *counts = arena_new_array(k->arena, size_t, n);

    for (size_t i = 0; i < k->points.n; i++)
        counts[piece_of(range, first, k->points.v[i].t_ns)]++;
    for (size_t i = 0; i < n; i++) {
        struct piece *x = &first[i];

        k->p->n_points -= x->n;
        x->n = 0;
        free(x->points);
        x->points = malloc((counts[i] + 1) * sizeof(*x->points));
        if (!x->points)
            return false;
        k->p->n_points += counts[i];
    }
    for (size_t i = 0; i < k->points.n; i++) {
        struct piece *x = &first[piece_of(range, first, k->points.v[i].t_ns)];

        x->points[x->n++] = k->points.v[i];
    }
    return true;
}

static bool no_memory(struct call *c)
{
    call_fail(c, 500, "out of memory");
    return false;
}

/* Asks for `n` pieces at once; their number of changes has been read. */
static bool ask(struct pieces *p, struct call *c,
                const struct pieces_range *range, struct piece *first, size_t n,
                const uint64_t *changes)
{
    struct answer k = {.p = p, .arena = c->arena, .last = UINT32_MAX};
    struct store_budget budget = call_budget(c);
    struct store_progress progress = {0};
    struct store_series q = {
        .query = {.from_ns = first->start_ns,
                  .to_ns = first->start_ns + (int64_t)n * range->length_ns - 1},
        .step_ns = range->step_ns,
        .by_service = true,
        .by_type = true,
        .group_by = range->group_by,
        .values = STORE_CHANGES};
    struct error err;
    enum store_status status =
        store_series(c->collector->options.store, &q, &budget, take_point, &k,
                     &progress, &err);

    p->asked++;
    for (size_t i = 0; i < n; i++)
        first[i].changes = 0;
    if (status != STORE_OK) {
        call_fail_store(c, status, &progress, &err);
        return false;
    }
    if (!hand_over(&k, range, first, n))
        return no_memory(c);
    for (size_t i = 0; i < n; i++)
        first[i].changes = changes[i];
    return true;
}

/* --- a range -------------------------------------------------------------- */

static bool ask_for_missing(struct pieces *p, struct call *c,
                            const struct pieces_range *range,
                            struct piece *first, size_t n)
{
    uint64_t *changes = arena_new_array(c->arena, uint64_t, n);
    struct store *store = c->collector->options.store;

    for (size_t i = 0; i < n; i++) {
        first[i].used_ns = c->now_ns;
        changes[i] = store_changes(store, first[i].start_ns,
                                   first[i].start_ns + range->length_ns - 1);
    }
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (first[i].changes == changes[i])
            continue;
        while (end < n && first[end].changes != changes[end])
            end++;
        if (!ask(p, c, range, &first[i], end - i, &changes[i]))
            return false;
    }
    return true;
}

static bool each_point(const struct pieces *p, const struct piece *x,
                       store_each_point *each, void *arg)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct piece_point *at = &x->points[i];
        const struct piece_group *g = &p->groups.v[at->group];

        if (!each(arg, &(struct store_point){.service = g->service,
                                             .profile_type = g->profile_type,
                                             .group = g->group,
                                             .type = g->type,
                                             .unit = g->unit,
                                             .t_ns = at->t_ns,
                                             .sum = at->sum,
                                             .profiles = at->profiles,
                                             .duration_ns = at->duration_ns,
                                             .newest_ns = at->newest_ns}))
            return false;
    }
    return true;
}

bool pieces_each(struct pieces *p, struct call *c,
                 const struct pieces_range *range, store_each_point *each,
                 void *arg)
{
    size_t n = (size_t)((range->to_ns - range->from_ns) / range->length_ns);
    struct piece key = {.step_ns = range->step_ns,
                        .length_ns = range->length_ns,
                        .start_ns = range->from_ns};
    struct piece *first;

    if (n == 0)
        return true;
    for (size_t i = 0; i < n; i++, key.start_ns += range->length_ns)
        if (!find_or_add(p, &key))
            return no_memory(c);
    key.start_ns = range->from_ns;
    first = &p->v[place_of(p, &key)];
    if (!ask_for_missing(p, c, range, first, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!each_point(p, &first[i], each, arg))
            break;
    return true;
}
