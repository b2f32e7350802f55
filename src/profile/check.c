#include "profile/check.h"

#include <inttypes.h>

#include "profile/idindex.h"

static bool check_samples(const struct profile *p, struct error *err)
{
    size_t frames = p->loc_start[p->n_samples];

    if (p->types.n == 0 && p->n_samples)
        return error_set(err, "missing sample type information");
    for (size_t i = 0; i < frames; i++)
        if (p->stack[i] == NO_INDEX)
            return error_set(err, "sample has nil location");
    return true;
}

/* `word` is how the original spells "ID" for this kind of object. */
static bool check_id(struct id_index *seen, uint64_t id, uint32_t place,
                     const char *what, const char *word, struct error *err)
{
    if (id == 0)
        return error_set(err, "found %s with reserved %s=0", what, word);
    if (id_index_find(seen, id) != NO_INDEX)
        return error_set(err, "multiple %ss with same id: %" PRIu64, what, id);
    id_index_add(seen, id, place);
    return true;
}

static bool check_mappings(const struct profile *p, struct arena *a,
                           struct error *err)
{
    struct id_index seen;

    id_index_init(&seen, a, p->mappings.n);
    for (uint32_t i = 0; i < p->mappings.n; i++)
        if (!check_id(&seen, p->mappings.v[i].id, i, "mapping", "ID", err))
            return false;
    return true;
}

static bool check_functions(const struct profile *p, struct arena *a,
                            struct error *err)
{
    struct id_index seen;

    id_index_init(&seen, a, p->functions.n);
    for (uint32_t i = 0; i < p->functions.n; i++)
        if (!check_id(&seen, p->functions.v[i].id, i, "function", "ID", err))
            return false;
    return true;
}

static bool check_lines(const struct profile *p, const struct location *l,
                        struct error *err)
{
    for (uint32_t i = 0; i < l->n_lines; i++)
        if (p->lines.v[l->line_start + i].function == NO_INDEX)
            return error_set(
                err, "location id: %" PRIu64 " has a line with nil function",
                l->id);
    return true;
}

static bool check_locations(const struct profile *p, struct arena *a,
                            struct error *err)
{
    struct id_index seen;

    id_index_init(&seen, a, p->locations.n);
    for (uint32_t i = 0; i < p->locations.n; i++) {
        const struct location *l = &p->locations.v[i];

        if (!check_id(&seen, l->id, i, "location", "id", err) ||
            !check_lines(p, l, err))
            return false;
    }
    return true;
}

bool profile_check_tables(const struct profile *p, struct error *err)
{
    struct arena *a = arena_new();
    bool ok = check_mappings(p, a, err) && check_functions(p, a, err) &&
              check_locations(p, a, err);

    arena_free(a);
    return ok;
}

bool profile_check(const struct profile *p, struct error *err)
{
    return check_samples(p, err) && profile_check_tables(p, err);
}
