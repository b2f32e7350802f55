/*
 * Builds a profile of bare addresses.  Addresses become locations when they
 * are first seen and are numbered at the end, in the order in which samples
 * use them: google/pprof does so, and ids are visible in raw output.
 */
#include "profile/legacy_common.h"

#include <string.h>

#include "base/goparse.h"
#include "profile/locate.h"

void legacy_init(struct legacy *l, const struct profile_limits *limits,
                 struct error *err)
{
    *l = (struct legacy){
        .profile = profile_new(),
        .scratch = arena_new(),
        .limits = limits,
        .err = err,
    };
    sample_builder_init(&l->samples, l->profile);
    map_init(&l->address_index, l->scratch, 0);
}

void legacy_release(struct legacy *l)
{
    arena_free(l->scratch);
}

bool legacy_intern(struct legacy *l, struct str s, string_id *out)
{
    size_t before = l->profile->strings.n;

    *out = profile_intern(l->profile, s);
    if (l->profile->strings.n > before)
        l->string_bytes += s.n;
    if (l->string_bytes > l->limits->string_bytes)
        return error_set(l->err, "more than %zu bytes of strings",
                         l->limits->string_bytes);
    return true;
}

static struct value_type value_type(struct legacy *l, struct str type,
                                    struct str unit)
{
    return (struct value_type){profile_intern(l->profile, type),
                               profile_intern(l->profile, unit)};
}

void legacy_add_type(struct legacy *l, struct str type, struct str unit)
{
    struct profile *p = l->profile;

    *vec_push(p->arena, &p->types) = value_type(l, type, unit);
}

void legacy_set_period(struct legacy *l, struct str type, struct str unit,
                       int64_t period)
{
    l->profile->period_type = value_type(l, type, unit);
    l->profile->period = period;
}

static struct map_cursor find_address(const struct legacy *l, uint64_t address)
{
    struct map_cursor c = map_find(&l->address_index, map_mix(0, address));

    while (map_next(&l->address_index, &c))
        if (l->addresses.v[c.record] == address)
            return c;
    c.record = NO_INDEX;
    return c;
}

uint32_t legacy_find_location(const struct legacy *l, uint64_t address)
{
    return find_address(l, address).record;
}

static uint32_t location_for(struct legacy *l, uint64_t address)
{
    struct profile *p = l->profile;
    struct map_cursor c = find_address(l, address);

    if (c.record != NO_INDEX)
        return c.record;
    map_add(&l->address_index, &c, (uint32_t)p->locations.n);
    *vec_push(l->scratch, &l->addresses) = address;
    *vec_push(p->arena, &p->locations) =
        (struct location){.address = address, .mapping = NO_INDEX};
    return (uint32_t)(p->locations.n - 1);
}

bool legacy_frame(struct legacy *l, uint64_t address)
{
    if (++l->open_frames > l->limits->stack_depth)
        return error_set(l->err, "sample %zu has more than %zu frames",
                         l->profile->n_samples, l->limits->stack_depth);
    if (l->profile->locations.n >= NO_INDEX - 1)
        return error_set(l->err, "more than %u locations", NO_INDEX - 1);
    sample_builder_frame(&l->samples, location_for(l, address));
    return true;
}

void legacy_drop_open_frames(struct legacy *l)
{
    l->samples.stack_n -= l->open_frames;
    l->open_frames = 0;
}

bool legacy_end_sample(struct legacy *l, const int64_t *values)
{
    if (l->profile->n_samples >= l->limits->samples)
        return error_set(l->err, "more than %zu samples", l->limits->samples);
    sample_builder_end(&l->samples, values);
    l->open_frames = 0;
    return true;
}

void legacy_label_bytes(struct legacy *l, int64_t bytes)
{
    sample_builder_label(&l->samples,
                         (struct label){
                             .key = profile_intern(l->profile, STR("bytes")),
                             .num = bytes,
                             .kind = LABEL_NUMBER,
                         });
}

bool legacy_frames(struct legacy *l, struct str text, enum legacy_frames kind,
                   struct str line)
{
    struct scan_address a;

    while (scan_next_address(&text, &a)) {
        bool adjust = kind == RETURN_ADDRESSES ||
                      (kind == LEAF_FIRST && l->open_frames > 0);

        if (!a.fits)
            return error_set(l->err,
                             "malformed sample: %" STR_FMT
                             ": failed to parse as hex 64-bit number: "
                             "%" STR_FMT,
                             STR_ARG(line), STR_ARG(a.text));
        if (!legacy_frame(l, a.value - adjust))
            return false;
    }
    return true;
}

bool legacy_number(struct legacy *l, struct str digits, int base,
                   const char *what, struct str line, int64_t *out)
{
    enum goparse result = goparse_int(digits, base, 64, out);

    if (result == GOPARSE_OK)
        return true;
    return error_set(
        l->err,
        "%s %" STR_FMT ": strconv.ParseInt: parsing \"%" STR_FMT "\": %s", what,
        STR_ARG(line), STR_ARG(digits), goparse_reason(result));
}

void legacy_drop_second_frames(struct profile *p,
                               bool (*unwanted)(const struct location *first,
                                                const struct location *second,
                                                uint64_t arg),
                               uint64_t arg)
{
    const struct location *locations = p->locations.v;
    size_t to = 0, from = 0;

    for (size_t i = 0; i < p->n_samples; i++) {
        size_t start = from, end = p->loc_start[i + 1];

        for (; from < end; from++)
            if (from != start + 1 || !unwanted(&locations[p->stack[to - 1]],
                                               &locations[p->stack[from]], arg))
                p->stack[to++] = p->stack[from];
        p->loc_start[i + 1] = to;
    }
}

static bool repeats_leaf(const struct location *leaf,
                         const struct location *second, uint64_t arg)
{
    (void)arg;
    return leaf->address == second->address + 1;
}

void legacy_drop_duplicate_leaves(struct profile *p)
{
    legacy_drop_second_frames(p, repeats_leaf, 0);
}

static void number_locations(struct profile *p, struct arena *scratch)
{
    size_t n = p->locations.n, used = 0;
    struct location *old = arena_new_array(scratch, struct location, n);
    uint32_t *place = arena_new_array(scratch, uint32_t, n);

    if (n)
        memcpy(old, p->locations.v, n * sizeof(*old));
    for (size_t i = 0; i < p->loc_start[p->n_samples]; i++) {
        uint32_t was = p->stack[i];

        if (!place[was]) { /* places from 1: they are the ids too */
            p->locations.v[used++] = old[was];
            p->locations.v[used - 1].id = used;
            place[was] = (uint32_t)used;
        }
        p->stack[i] = place[was] - 1;
    }
    p->locations.n = used;
}

static void number_functions(struct profile *p, struct arena *scratch)
{
    size_t n = p->functions.n, used = 0;
    struct function *old = arena_new_array(scratch, struct function, n);
    uint32_t *place = arena_new_array(scratch, uint32_t, n);

    if (n)
        memcpy(old, p->functions.v, n * sizeof(*old));
    for (size_t i = 0; i < p->locations.n; i++) {
        const struct location *loc = &p->locations.v[i];

        for (uint32_t k = 0; k < loc->n_lines; k++) {
            struct line *line = &p->lines.v[loc->line_start + k];
            uint32_t was = line->function;

            if (!place[was]) {
                p->functions.v[used++] = old[was];
                p->functions.v[used - 1].id = used;
                place[was] = (uint32_t)used;
            }
            line->function = place[was] - 1;
        }
    }
    p->functions.n = used;
}

void legacy_finish(struct legacy *l)
{
    number_locations(l->profile, l->scratch);
    number_functions(l->profile, l->scratch);
    locate_in_mappings(l->profile, l->scratch);
}
