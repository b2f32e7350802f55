#include "profile/compact.h"

#include <assert.h>

#include "profile/indices.h"
#include "profile/sweep.h"

/* The tables as they become, and where each old record went. */
struct compactor {
    struct profile *p;
    uint32_t *mapping_to, *function_to, *location_to;
    VEC(struct mapping) mappings;
    VEC(struct function) functions;
    VEC(struct location) locations;
    VEC(struct line) lines;
};

static uint32_t take_mapping(struct compactor *c, uint32_t old)
{
    if (old == NO_INDEX)
        return NO_INDEX;
    if (c->mapping_to[old] == NO_INDEX) {
        struct mapping *m = vec_push(c->p->arena, &c->mappings);

        *m = c->p->mappings.v[old];
        m->id = c->mappings.n;
        c->mapping_to[old] = (uint32_t)(c->mappings.n - 1);
    }
    return c->mapping_to[old];
}

static uint32_t take_function(struct compactor *c, uint32_t old)
{
    if (old == NO_INDEX)
        return NO_INDEX;
    if (c->function_to[old] == NO_INDEX) {
        struct function *f = vec_push(c->p->arena, &c->functions);

        *f = c->p->functions.v[old];
        f->id = c->functions.n;
        c->function_to[old] = (uint32_t)(c->functions.n - 1);
    }
    return c->function_to[old];
}

static uint32_t take_location(struct compactor *c, uint32_t old)
{
    struct profile *p = c->p;
    struct location l = p->locations.v[old];
    size_t first_line = l.line_start;

    l.id = c->locations.n + 1;
    l.mapping = take_mapping(c, l.mapping);
    l.line_start = (uint32_t)c->lines.n;
    for (size_t i = 0; i < l.n_lines; i++) {
        struct line line = p->lines.v[first_line + i];

        line.function = take_function(c, line.function);
        *vec_push(p->arena, &c->lines) = line;
    }
    *vec_push(p->arena, &c->locations) = l;
    return (uint32_t)(c->locations.n - 1);
}

static void drop_zero_samples(struct profile *p)
{
    size_t n = p->types.n;
    struct sweep s;

    sweep_init(&s, p);
    while (sweep_next(&s)) {
        int64_t any = 0;

        for (size_t i = 0; i < n; i++)
            any |= p->values[s.sample * n + i];
        if (any)
            sweep_keep(&s);
    }
}

/* Replaces a table; vectors of one element type are assigned member-wise,
 * for each VEC is a type of its own. */
#define REPLACE(to, from)                                                      \
    ((to)->v = (from)->v, (to)->n = (from)->n, (to)->cap = (from)->cap)

void profile_compact(struct profile *p)
{
    struct arena *scratch = arena_new();
    struct compactor c = {
        .p = p,
        .mapping_to = indices_new(scratch, p->mappings.n),
        .function_to = indices_new(scratch, p->functions.n),
        .location_to = indices_new(scratch, p->locations.n),
    };

    drop_zero_samples(p);
    if (p->mappings.n)
        take_mapping(&c, 0);
    for (size_t i = 0; i < p->loc_start[p->n_samples]; i++) {
        uint32_t *to = &c.location_to[p->stack[i]];

        if (*to == NO_INDEX)
            *to = take_location(&c, p->stack[i]);
        p->stack[i] = *to;
    }
    assert(c.locations.n <= p->locations.n && c.lines.n <= p->lines.n);
    assert(c.functions.n <= p->functions.n && c.mappings.n <= p->mappings.n);
    REPLACE(&p->mappings, &c.mappings);
    REPLACE(&p->functions, &c.functions);
    REPLACE(&p->locations, &c.locations);
    REPLACE(&p->lines, &c.lines);
    arena_free(scratch);
}
