/*
 * Locations: most of what a profile consists of, and nearly all of them known
 * from the one before.
 */
#include "store/intern.h"

#include <stdlib.h>

#include "base/hash.h"
#include "store/pack.h"

/* The address in the mapped file; mappings that are none have offset 0. */
static uint64_t relative_address(const struct intake *in,
                                 const struct in_location *l)
{
    const struct in_mapping *m;

    if (l->mapping == NO_INDEX)
        return l->address;
    m = &in->mappings.v[l->mapping];
    return l->address - m->start + m->offset;
}

/* What a location's record begins with: mapping and whether it is folded. */
static uint64_t first_of(const struct interner *t, const struct in_location *l)
{
    uint32_t mapping = l->mapping == NO_INDEX ? 0 : t->mappings[l->mapping];

    return (uint64_t)mapping << 1 | l->is_folded;
}

/*
 * Guessing.  A program's next profile has mostly the locations of the last
 * one.  The one at the same place is compared, text by text, with what came;
 * that is cheaper than finding every text and record by its hash, and texts
 * and functions that have been compared once are known by number.
 */

static size_t guess_slot(const struct dict *d, uint64_t first, uint64_t address)
{
    return (size_t)(hash_mix(hash_mix(first ^ d->node_seed) ^ address) >> 21) &
           d->guess_mask;
}

static bool is_text(struct interner *t, uint32_t i, uint32_t id)
{
    if (!t->strings[i]) {
        if (!str_eq(t->in->strings.v[i], dict_get(t->d, DICT_STRING, id)))
            return false;
        t->strings[i] = id + 1;
    }
    return t->strings[i] == id + 1;
}

static bool is_function(struct interner *t, uint32_t i, uint32_t id)
{
    const struct in_function *f = &t->in->functions.v[i];
    struct wire_reader r;
    uint32_t name, system_name, filename;
    int64_t start_line;

    if (t->functions[i])
        return t->functions[i] == id + 1;
    r = unpack_begin(dict_get(t->d, DICT_FUNCTION, id));
    if (!unpack_u32(&r, &name) || !unpack_u32(&r, &system_name) ||
        !unpack_u32(&r, &filename) || !unpack_signed(&r, &start_line) ||
        start_line != f->start_line || !is_text(t, f->name, name) ||
        !is_text(t, f->system_name, system_name) ||
        !is_text(t, f->filename, filename))
        return false;
    t->functions[i] = id + 1;
    return true;
}

static bool is_location(struct interner *t, const struct in_location *l,
                        uint64_t first, uint64_t address, uint32_t id)
{
    struct wire_reader r = unpack_begin(dict_get(t->d, DICT_LOCATION, id));
    const struct in_line *line =
        l->n_lines ? t->in->lines.v + l->line_start : NULL;
    uint64_t a, b;

    if (!unpack_varint(&r, &a) || !unpack_varint(&r, &b) || a != first ||
        b != address)
        return false;
    for (uint32_t n = 0; n < l->n_lines; n++, line++) {
        uint32_t function;
        int64_t number, column;

        if (!unpack_u32(&r, &function) || !unpack_signed(&r, &number) ||
            !unpack_signed(&r, &column) || number != line->line ||
            column != line->column || !is_function(t, line->function, function))
            return false;
    }
    return !wire_more(&r);
}

enum { GUESSES = 8 }; /* how many are tried */

static void put_guess(struct dict *d, uint32_t id)
{
    struct wire_reader r = unpack_begin(dict_get(d, DICT_LOCATION, id));
    uint64_t first, address;
    size_t at;

    if (!unpack_varint(&r, &first) || !unpack_varint(&r, &address))
        return;
    at = guess_slot(d, first, address);
    for (int n = 0; n < GUESSES; n++, at = (at + 1) & d->guess_mask)
        if (!d->guess[at]) {
            d->guess[at] = id + 1;
            return;
        }
}

/* Adds a new location; without memory there is just nothing to guess. */
static void remember_guess(struct dict *d, uint32_t id)
{
    size_t n = d->tables[DICT_LOCATION].n, slots = 256;

    if (d->guess && 2 * n <= d->guess_mask + 1) {
        put_guess(d, id);
        return;
    }
    while (slots < 4 * n)
        slots *= 2;
    free(d->guess);
    d->guess = calloc(slots, sizeof(*d->guess));
    d->guess_mask = slots - 1;
    for (uint32_t i = 0; d->guess && i < n; i++)
        put_guess(d, i);
}

/* The number + 1 of an equal location, or 0. */
static uint32_t guess(struct interner *t, const struct in_location *l,
                      uint64_t first, uint64_t address)
{
    const struct dict *d = t->d;
    size_t at;

    if (!d->guess)
        return 0;
    at = guess_slot(d, first, address);
    for (int n = 0; n < GUESSES && d->guess[at];
         n++, at = (at + 1) & d->guess_mask)
        if (is_location(t, l, first, address, d->guess[at] - 1))
            return d->guess[at];
    return 0;
}

static bool make_location(struct interner *t, const struct in_location *l,
                          uint64_t first, uint64_t address, uint32_t *out)
{
    uint32_t ids[8], *functions = ids;
    bool ok = true;

    if (l->n_lines > sizeof(ids) / sizeof(*ids)) {
        functions = malloc(l->n_lines * sizeof(*functions));
        if (!functions)
            return false;
    }
    for (uint32_t n = 0; ok && n < l->n_lines; n++)
        ok = intern_function(t, t->in->lines.v[l->line_start + n].function,
                             &functions[n]);
    buf_clear(&t->record);
    wire_add_varint(&t->record, first);
    wire_add_varint(&t->record, address);
    for (uint32_t n = 0; ok && n < l->n_lines; n++) {
        wire_add_varint(&t->record, functions[n]);
        pack_signed(&t->record, t->in->lines.v[l->line_start + n].line);
        pack_signed(&t->record, t->in->lines.v[l->line_start + n].column);
    }
    if (functions != ids)
        free(functions);
    return ok && intern_record(t, DICT_LOCATION, out);
}

static bool intern_location(struct interner *t, uint32_t i)
{
    const struct in_location *l = &t->in->locations.v[i];
    uint64_t first = first_of(t, l);
    uint64_t address = relative_address(t->in, l);
    uint32_t known = guess(t, l, first, address), id;
    size_t n = t->d->tables[DICT_LOCATION].n;

    if (!known) {
        if (!make_location(t, l, first, address, &id))
            return false;
        if (id == n)
            remember_guess(t->d, id);
        known = id + 1;
    }
    t->locations[i] = known;
    return true;
}

/* The number of a location is wanted soon: its way there is three reads, each
 * of which waits for memory.  Many wait together. */
enum { AHEAD = 32 };

static void prefetch_locations(const struct interner *t, size_t from, size_t to)
{
    const struct dict *d = t->d;
    const struct table *records = &d->tables[DICT_LOCATION];
    size_t slots[AHEAD];

    for (size_t i = from; i < to; i++) {
        const struct in_location *l = &t->in->locations.v[i];

        slots[i - from] =
            guess_slot(d, first_of(t, l), relative_address(t->in, l));
        __builtin_prefetch(&d->guess[slots[i - from]]);
    }
    for (size_t i = from; i < to; i++)
        __builtin_prefetch(&records->ends[d->guess[slots[i - from]]]);
    for (size_t i = from; i < to; i++) {
        uint32_t known = d->guess[slots[i - from]];

        if (known > 1)
            __builtin_prefetch(records->bytes + records->ends[known - 2]);
    }
}

bool intern_locations(struct interner *t)
{
    size_t n = t->in->locations.n;

    for (size_t from = 0; from < n; from += AHEAD) {
        size_t to = from + AHEAD < n ? from + AHEAD : n;

        if (t->d->guess)
            prefetch_locations(t, from, to);
        for (size_t i = from; i < to; i++)
            if (!intern_location(t, (uint32_t)i))
                return false;
    }
    return true;
}
