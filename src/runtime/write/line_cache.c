/*
 * Entries are only ever appended; a hash table leads to them.  An entry that
 * is out of date is overwritten in place, and its old frames stay until the
 * cache starts again.
 */
#include "runtime/write/line_cache.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

#define RETRY_NS       (60 * SECOND)
#define FUNCTION_SLOTS 8192u
#define ENTRY_SLOTS    16384u
#define MAX_ENTRIES    (ENTRY_SLOTS / 2)

struct line_cache_entry {
    uint64_t vaddr;
    int64_t until_ns; /* for an answer that is not final */
    uint32_t module;
    struct line_place place;
};

bool line_module_equal(const struct line_module *a, const struct line_module *b)
{
    return strcmp(a->path, b->path) == 0 && a->build_id_n == b->build_id_n &&
           memcmp(a->build_id, b->build_id, a->build_id_n) == 0;
}

void line_cache_init(struct line_cache *c, size_t max_bytes)
{
    *c = (struct line_cache){
        .modules = {.size = sizeof(struct line_module)},
        .entries = {.size = sizeof(struct line_cache_entry)},
        .slots = {.size = sizeof(uint32_t)},
        .max_bytes = max_bytes};
    lines_init(&c->lines);
}

void line_cache_release(struct line_cache *c)
{
    lines_release(&c->lines);
    pages_vec_release(&c->modules);
    pages_vec_release(&c->entries);
    pages_vec_release(&c->slots);
}

bool line_cache_find_module(const struct line_cache *c,
                            const struct line_module *m, uint32_t *out)
{
    const struct line_module *v = c->modules.p;

    for (size_t i = 0; i < c->modules.n; i++) {
        if (!line_module_equal(&v[i], m))
            continue;
        *out = (uint32_t)i;
        return true;
    }
    return false;
}

/* The slot of an address, or the free one where it belongs. */
static uint32_t *find_slot(const struct line_cache *c, uint32_t module,
                           uint64_t vaddr)
{
    const struct line_cache_entry *v = c->entries.p;
    uint32_t *slots = c->slots.p;

    for (uint64_t i = hash_mix(vaddr + ((uint64_t)module << 40));; i++) {
        uint32_t *slot = &slots[i % ENTRY_SLOTS];

        if (*slot == 0 ||
            (v[*slot - 1].vaddr == vaddr && v[*slot - 1].module == module))
            return slot;
    }
}

bool line_cache_find(const struct line_cache *c, uint32_t module,
                     uint64_t vaddr, int64_t now_ns, struct lines *to,
                     struct line_place *place)
{
    const struct line_cache_entry *e;
    uint32_t slot;

    if (c->slots.n == 0)
        return false;
    slot = *find_slot(c, module, vaddr);
    if (slot == 0)
        return false;
    e = (const struct line_cache_entry *)c->entries.p + slot - 1;
    if (!e->place.is_final && now_ns >= e->until_ns)
        return false;
    lines_copy(to, place, &c->lines, e->place);
    place->is_cached = !to->failed;
    return place->is_cached;
}

static size_t bytes_of(const struct pages_vec *v)
{
    return v->n * v->size;
}

static bool has_room(struct line_cache *c)
{
    size_t sum = bytes_of(&c->modules) + bytes_of(&c->entries) +
                 bytes_of(&c->slots) + bytes_of(&c->lines.frames) +
                 bytes_of(&c->lines.functions) + bytes_of(&c->lines.slots) +
                 bytes_of(&c->lines.text);

    if (sum >= c->max_bytes || c->entries.n >= MAX_ENTRIES || c->lines.failed)
        c->is_full = true;
    return !c->is_full;
}

void line_cache_begin(struct line_cache *c)
{
    if (c->is_full) {
        size_t max_bytes = c->max_bytes;

        line_cache_release(c);
        line_cache_init(c, max_bytes);
    }
    if (c->slots.n == 0 && (!pages_vec_push(&c->slots, ENTRY_SLOTS) ||
                            !lines_reserve(&c->lines, FUNCTION_SLOTS)))
        c->is_full = true;
}

bool line_cache_add_module(struct line_cache *c, const struct line_module *m,
                           uint32_t *out)
{
    struct line_module *to;

    if (line_cache_find_module(c, m, out))
        return true;
    to = has_room(c) ? pages_vec_push(&c->modules, 1) : NULL;
    if (!to)
        return false;
    *to = *m;
    *out = (uint32_t)(c->modules.n - 1);
    return true;
}

void line_cache_add(struct line_cache *c, uint32_t module, uint64_t vaddr,
                    int64_t now_ns, const struct lines *from,
                    struct line_place place)
{
    struct line_cache_entry entry = {
        .vaddr = vaddr, .until_ns = now_ns + RETRY_NS, .module = module};
    struct line_cache_entry *to;
    uint32_t *slot;

    if (!has_room(c))
        return;
    lines_copy(&c->lines, &entry.place, from, place);
    slot = find_slot(c, module, vaddr);
    if (*slot) {
        to = (struct line_cache_entry *)c->entries.p + *slot - 1;
    } else {
        to = c->lines.failed ? NULL : pages_vec_push(&c->entries, 1);
        if (!to) {
            c->is_full = true;
            return;
        }
        *slot = (uint32_t)c->entries.n;
    }
    *to = entry;
}
