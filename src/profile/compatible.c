/*
 * Makes profiles that differ in their types addable: first only the common
 * types are kept, then every unit becomes the finest one in use and values are
 * scaled to it.  google/pprof's rules decide what counts as common.
 */
#include "profile/compatible.h"

#include <string.h>

#include "base/buf.h"
#include "base/number.h"
#include "profile/measure.h"
#include "profile/same_types.h"
#include "profile/scale.h"

/*
 * The sample types that all profiles have.
 */

static size_t times_present(const struct profile *p, struct str type)
{
    size_t n = 0;

    for (size_t i = 0; i < p->types.n; i++)
        n += str_eq(profile_str(p, p->types.v[i].type), type);
    return n;
}

/* Names are counted over all profiles, so that one which occurs twice in a
 * profile is not common (google/pprof's rule). */
static bool is_common(struct profile *const *profiles, size_t n,
                      struct str type)
{
    size_t present = 0;

    for (size_t i = 0; i < n; i++)
        present += times_present(profiles[i], type);
    return present == n;
}

static size_t find_type(const struct profile *p, struct str type)
{
    size_t i = 0;

    while (i < p->types.n && !str_eq(profile_str(p, p->types.v[i].type), type))
        i++;
    return i;
}

/* Gives each sample the values order[0..n) of those it has. */
static void select_values(struct profile *p, struct arena *scratch,
                          const size_t *order, size_t n)
{
    struct value_type *types = arena_new_array(scratch, struct value_type, n);
    int64_t *row = arena_new_array(scratch, int64_t, n);
    size_t old_n = p->types.n;

    for (size_t i = 0; i < n; i++)
        types[i] = p->types.v[order[i]];
    for (size_t s = 0; s < p->n_samples; s++) {
        for (size_t i = 0; i < n; i++)
            row[i] = p->values[s * old_n + order[i]];
        memcpy(p->values + s * n, row, n * sizeof(*row));
    }
    memcpy(p->types.v, types, n * sizeof(*types));
    p->types.n = n;
}

static bool contains(const struct str *list, size_t n, struct str s)
{
    while (n > 0)
        if (str_eq(list[--n], s))
            return true;
    return false;
}

/* Rewrites a profile to the common types; one that has just these keeps
 * its default type whatever it is. */
static void reduce_to(struct profile *p, struct arena *scratch,
                      const struct str *common, size_t n)
{
    size_t *order = arena_new_array(scratch, size_t, n);
    bool same = p->types.n == n;

    for (size_t i = 0; i < n; i++) {
        order[i] = find_type(p, common[i]);
        same = same && order[i] == i;
    }
    if (same)
        return;
    if (!contains(common, n, profile_str(p, p->default_type)))
        p->default_type = profile_intern(p, common[0]);
    select_values(p, scratch, order, n);
}

static bool intersect_types(struct profile *const *profiles, size_t n,
                            struct arena *scratch, struct error *err)
{
    const struct profile *first = profiles[0];
    struct str *common = arena_new_array(scratch, struct str, first->types.n);
    size_t n_common = 0;

    for (size_t i = 0; i < first->types.n; i++) {
        struct str type = profile_str(first, first->types.v[i].type);

        if (is_common(profiles, n, type))
            common[n_common++] = type;
    }
    if (n_common == 0)
        return error_set(err, "profiles have empty common sample type list");
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < n_common; t++)
            if (times_present(profiles[i], common[t]) == 0)
                return error_set(
                    err, "\"%" STR_FMT "\" sample type is not found in profile",
                    STR_ARG(common[t]));
    for (size_t i = 0; i < n; i++)
        reduce_to(profiles[i], scratch, common, n_common);
    return true;
}

/*
 * Units: all profiles get the finest.
 */

/* Makes *finest the finer of two types; they must be comparable. */
static bool take_finer(struct type_text *finest, struct type_text t,
                       struct error *err)
{
    struct str unit;

    if (!measure_compatible(finest->type, finest->unit, t.type, t.unit))
        return error_set(err, "incompatible types: " TYPE_FMT " " TYPE_FMT,
                         TYPE_ARG(*finest), TYPE_ARG(t));
    if (measure_scale(1, t.unit, finest->unit, &unit) < 1)
        *finest = t;
    return true;
}

static bool finest_period(struct profile *const *profiles, size_t n,
                          struct type_text *out, struct error *err)
{
    *out = type_text_of(profiles[0], profiles[0]->period_type);
    for (size_t i = 1; i < n; i++)
        if (!take_finer(
                out, type_text_of(profiles[i], profiles[i]->period_type), err))
            return error_wrap(err, "period type");
    return true;
}

static bool finest_types(struct profile *const *profiles, size_t n,
                         struct type_text *out, struct error *err)
{
    for (size_t t = 0; t < profiles[0]->types.n; t++) {
        out[t] = type_text_of(profiles[0], profiles[0]->types.v[t]);
        for (size_t i = 1; i < n; i++)
            if (!take_finer(&out[t],
                            type_text_of(profiles[i], profiles[i]->types.v[t]),
                            err))
                return error_wrap(err, "sample types");
    }
    return true;
}

static void convert(struct profile *p, struct arena *scratch,
                    struct type_text period, const struct type_text *types)
{
    double *ratios = arena_new_array(scratch, double, p->types.n);
    struct str unit;
    double amount;

    amount = measure_scale(p->period, profile_str(p, p->period_type.unit),
                           period.unit, &unit);
    p->period = number_trunc(amount);
    p->period_type.unit = profile_intern(p, period.unit);
    for (size_t i = 0; i < p->types.n; i++) {
        ratios[i] = measure_scale(1, profile_str(p, p->types.v[i].unit),
                                  types[i].unit, &unit);
        p->types.v[i].unit = profile_intern(p, types[i].unit);
    }
    profile_scale_n(p, ratios);
}

static bool harmonise_units(struct profile *const *profiles, size_t n,
                            struct arena *scratch, struct error *err)
{
    struct type_text period, *types = arena_new_array(scratch, struct type_text,
                                                      profiles[0]->types.n);

    if (!finest_period(profiles, n, &period, err) ||
        !finest_types(profiles, n, types, err))
        return false;
    for (size_t i = 0; i < n; i++)
        convert(profiles[i], scratch, period, types);
    return true;
}

bool profile_make_compatible(struct profile *const *profiles, size_t n,
                             struct error *err)
{
    struct arena *scratch = arena_new();
    bool ok = n == 0 || intersect_types(profiles, n, scratch, err);

    if (n > 1)
        ok = ok && harmonise_units(profiles, n, scratch, err);
    arena_free(scratch);
    return ok;
}
