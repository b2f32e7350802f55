/*
 * "The first mapping that covers the address" for any number of addresses
 * and mappings, overlapping ones too, in O(log mappings) each: a hostile
 * profile may have a hundred thousand of both.
 *
 * The ends of all intervals cut the address space into pieces; the pieces
 * are the leaves of a segment tree.  An interval is kept at the O(log n)
 * nodes that together are exactly it, so the intervals covering a piece are
 * those at the nodes above its leaf.  For mappings a node keeps the least
 * number; for the parts in front of mappings, which are used up, a list in
 * ascending order whose used head is dropped when met.
 */
#include "profile/locate.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

struct front {
    uint32_t mapping;
    uint32_t next; /* further down the list of the node; 0 ends */
};

struct cover {
    struct profile *profile;
    struct arena *arena;
    uint64_t *cuts; /* sorted, different: piece i is cuts[i] .. cuts[i + 1] */
    size_t n;
    uint32_t *first; /* per node: least mapping number here, or NO_INDEX */
    uint32_t *front; /* per node: head of a list in `fronts`, or 0 */
    VEC(struct front) fronts;
};

static int compare_cuts(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void find_cuts(struct cover *c)
{
    const struct profile *p = c->profile;
    size_t n = 0;

    c->cuts = arena_new_array(c->arena, uint64_t, 3 * p->mappings.n);
    for (size_t i = 0; i < p->mappings.n; i++) {
        const struct mapping *m = &p->mappings.v[i];

        c->cuts[n++] = m->start;
        c->cuts[n++] = m->limit;
        c->cuts[n++] = m->start - m->offset;
    }
    qsort(c->cuts, n, sizeof(*c->cuts), compare_cuts);
    for (size_t i = 0; i < n; i++)
        if (c->n == 0 || c->cuts[c->n - 1] != c->cuts[i])
            c->cuts[c->n++] = c->cuts[i];
}

/* The number of cuts at or below the address. */
static size_t cuts_up_to(const struct cover *c, uint64_t address)
{
    return search_first(i, 0, c->n, c->cuts[i] > address);
}

static void add_first(struct cover *c, size_t node, uint32_t mapping)
{
    if (mapping < c->first[node])
        c->first[node] = mapping;
}

static void add_front(struct cover *c, size_t node, uint32_t mapping)
{
    *vec_push(c->arena, &c->fronts) = (struct front){mapping, c->front[node]};
    c->front[node] = (uint32_t)(c->fronts.n - 1);
}

/* Calls `add` for the nodes that make up the addresses start .. limit, both
 * of which are cuts. */
static void add_interval(struct cover *c, uint64_t start, uint64_t limit,
                         uint32_t mapping,
                         void (*add)(struct cover *, size_t, uint32_t))
{
    size_t left, right;

    if (start >= limit)
        return;
    left = cuts_up_to(c, start) - 1 + c->n;
    right = cuts_up_to(c, limit) - 1 + c->n;
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2)
            add(c, left++, mapping);
        if (right % 2)
            add(c, --right, mapping);
    }
}

static void cover_init(struct cover *c, struct profile *p, struct arena *a)
{
    *c = (struct cover){.profile = p, .arena = a};
    find_cuts(c);
    c->first = arena_new_array(a, uint32_t, 2 * c->n);
    memset(c->first, 0xff, 2 * c->n * sizeof(*c->first));
    c->front = arena_new_array(a, uint32_t, 2 * c->n);
    vec_push(a, &c->fronts); /* number 0 is the end of lists */

    for (size_t i = p->mappings.n; i-- > 0;) {
        const struct mapping *m = &p->mappings.v[i];

        add_interval(c, m->start, m->limit, (uint32_t)i, add_first);
        if (m->offset <= m->start)
            add_interval(c, m->start - m->offset, m->start, (uint32_t)i,
                         add_front);
    }
}

static uint32_t find_covering(const struct cover *c, size_t piece)
{
    uint32_t best = NO_INDEX;

    for (size_t node = piece + c->n; node > 0; node /= 2)
        if (c->first[node] < best)
            best = c->first[node];
    return best;
}

/* Moves the start of the mapping found, so that the front is used up. */
static uint32_t find_and_use_front(struct cover *c, size_t piece)
{
    struct mapping *mappings = c->profile->mappings.v;
    uint32_t best = NO_INDEX;

    for (size_t node = piece + c->n; node > 0; node /= 2) {
        uint32_t *head = &c->front[node];

        while (*head && mappings[c->fronts.v[*head].mapping].offset == 0)
            *head = c->fronts.v[*head].next;
        if (*head && c->fronts.v[*head].mapping < best)
            best = c->fronts.v[*head].mapping;
    }
    if (best != NO_INDEX) {
        struct mapping *m = &mappings[best];

        m->start -= m->offset;
        m->offset = 0;
        add_interval(c, m->start, m->limit, best, add_first);
    }
    return best;
}

static uint32_t find_mapping(struct cover *c, uint64_t address,
                             bool may_use_front)
{
    size_t below = cuts_up_to(c, address);
    uint32_t found;

    if (below == 0)
        return NO_INDEX;
    found = find_covering(c, below - 1);
    if (found == NO_INDEX && may_use_front)
        found = find_and_use_front(c, below - 1);
    return found;
}

static void put_first_mapping_right(struct profile *p)
{
    const uint64_t program_start = 0x400000;
    struct mapping *m = p->mappings.v;

    if (p->mappings.n > 1 && m[0].limit == m[1].start &&
        str_has_prefix(profile_str(p, m[0].file), STR("/anon_hugepage"))) {
        p->mappings.n--;
        memmove(m, m + 1, p->mappings.n * sizeof(*m));
    }
    if (p->mappings.n && m[0].start - m[0].offset == program_start) {
        m[0].start = program_start;
        m[0].offset = 0;
    }
}

void locate_in_mappings(struct profile *p, struct arena *scratch)
{
    uint32_t nameless = NO_INDEX;
    struct cover c;

    put_first_mapping_right(p);
    cover_init(&c, p, scratch);
    for (size_t i = 0; i < p->locations.n; i++) {
        struct location *loc = &p->locations.v[i];

        if (loc->mapping != NO_INDEX || loc->address == 0)
            continue;
        /* Once it is there, the nameless one covers every front. */
        loc->mapping = find_mapping(&c, loc->address, nameless == NO_INDEX);
        if (loc->mapping != NO_INDEX)
            continue;
        if (nameless == NO_INDEX) {
            nameless = (uint32_t)p->mappings.n;
            *vec_push(p->arena, &p->mappings) =
                (struct mapping){.limit = UINT64_MAX};
        }
        loc->mapping = nameless;
    }
    for (size_t i = 0; i < p->mappings.n; i++)
        p->mappings.v[i].id = i + 1;
}
