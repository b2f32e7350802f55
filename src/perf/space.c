/*
 * The maps of a process are an array in order, none over another.  A new one
 * cuts off, cuts in two or removes what it covers, as mmap does.  Processes
 * have some hundred maps, so moving the rest of the array is cheaper than a
 * tree.
 */
#include "perf/space.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"

void perf_spaces_init(struct perf_spaces *s, struct arena *a)
{
    *s = (struct perf_spaces){.arena = a};
    map_init(&s->index, a, 0);
}

struct perf_space *perf_space_of(struct perf_spaces *s, uint32_t pid)
{
    struct map_cursor c = map_find(&s->index, map_mix(0, pid));

    while (map_next(&s->index, &c))
        if (s->list.v[c.record].pid == pid)
            return &s->list.v[c.record];
    map_add(&s->index, &c, (uint32_t)s->list.n);
    *vec_push(s->arena, &s->list) =
        (struct perf_space){.pid = pid, .first = PERF_NO_FILE};
    return &s->list.v[s->list.n - 1];
}

/* The first map that ends behind an address. */
static size_t lower_bound(const struct perf_space *s, uint64_t address)
{
    return search_first(i, 0, s->maps.n, s->maps.v[i].limit > address);
}

const struct perf_map *perf_space_find(const struct perf_space *s,
                                       uint64_t address)
{
    size_t i = lower_bound(s, address);

    return i < s->maps.n && s->maps.v[i].start <= address ? &s->maps.v[i]
                                                          : NULL;
}

static void insert(struct arena *a, struct perf_space *s, size_t at,
                   struct perf_map map)
{
    assert(at <= s->maps.n && map.start < map.limit);
    assert(at == 0 || s->maps.v[at - 1].limit <= map.start);
    assert(at == s->maps.n || map.limit <= s->maps.v[at].start);
    vec_push(a, &s->maps);
    memmove(s->maps.v + at + 1, s->maps.v + at,
            (s->maps.n - 1 - at) * sizeof(map));
    s->maps.v[at] = map;
}

static void remove_range(struct perf_space *s, size_t from, size_t to)
{
    assert(from <= to && to <= s->maps.n);
    if (from == to)
        return;
    memmove(s->maps.v + from, s->maps.v + to,
            (s->maps.n - to) * sizeof(*s->maps.v));
    s->maps.n -= to - from;
}

void perf_space_map(struct perf_spaces *all, uint32_t pid, struct perf_map map)
{
    struct perf_space *s = perf_space_of(all, pid);
    size_t at, end;

    if (map.start >= map.limit)
        return;
    if (s->first == PERF_NO_FILE)
        s->first = map.file;
    at = lower_bound(s, map.start);
    if (at < s->maps.n && s->maps.v[at].start < map.start) {
        struct perf_map tail = s->maps.v[at];

        /* Cut in two, or only its end cut off. */
        s->maps.v[at].limit = map.start;
        at++;
        if (tail.limit > map.limit) {
            tail.start = map.limit;
            insert(all->arena, s, at, tail);
        }
    }
    for (end = at; end < s->maps.n && s->maps.v[end].limit <= map.limit;)
        end++;
    if (end < s->maps.n && s->maps.v[end].start < map.limit)
        s->maps.v[end].start = map.limit;
    remove_range(s, at, end);
    insert(all->arena, s, at, map);
}

void perf_space_fork(struct perf_spaces *all, uint32_t parent, uint32_t child)
{
    struct perf_space *to, *from;

    if (parent == child)
        return;
    perf_space_of(all, parent);
    to = perf_space_of(all, child);
    from = perf_space_of(all, parent);
    to->maps.n = 0;
    for (size_t i = 0; i < from->maps.n; i++)
        *vec_push(all->arena, &to->maps) = from->maps.v[i];
    to->first = from->first;
}

void perf_space_exec(struct perf_spaces *all, uint32_t pid)
{
    struct perf_space *s = perf_space_of(all, pid);

    s->maps.n = 0;
    s->first = PERF_NO_FILE;
}
