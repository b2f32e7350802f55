/*
 * Codes are collected in the order in which they were written.  Finishing
 * paints them over each other: one pass by address, with a heap of what
 * covers the place, the newest on top.
 */
#include "elf/jit_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

struct code {
    uint64_t start, limit;
    uint32_t name, name_n; /* in names */
    uint32_t order;        /* the higher the later */
};

void jit_map_init(struct jit_map *m)
{
    *m = (struct jit_map){.codes = {.size = sizeof(struct code)},
                          .names = {.size = 1}};
}

void jit_map_release(struct jit_map *m)
{
    pages_vec_release(&m->codes);
    pages_vec_release(&m->names);
}

bool jit_map_add(struct jit_map *m, uint64_t start, uint64_t size,
                 struct str name)
{
    size_t at = m->names.n, order = m->codes.n;
    struct code *to;
    char *text;

    if (size == 0 || size > UINT64_MAX - start || name.n == 0)
        return true;
    if (name.n > JIT_MAX_NAME)
        name.n = JIT_MAX_NAME;
    if (order >= JIT_MAX_CODES || at > UINT32_MAX - JIT_MAX_NAME)
        return false;
    text = pages_vec_push(&m->names, name.n);
    to = text ? pages_vec_push(&m->codes, 1) : NULL;
    if (!to)
        return false;
    memcpy(text, name.s, name.n);
    *to = (struct code){start, start + size, (uint32_t)at, (uint32_t)name.n,
                        (uint32_t)order};
    return true;
}

size_t jit_map_last_name(const struct jit_map *m, uint64_t start,
                         size_t lookback, char out[JIT_MAX_NAME])
{
    const struct code *v = m->codes.p;

    for (size_t i = m->codes.n; i && lookback; i--, lookback--)
        if (v[i - 1].start == start) {
            memcpy(out, (const char *)m->names.p + v[i - 1].name,
                   v[i - 1].name_n);
            return v[i - 1].name_n;
        }
    return 0;
}

/* --- perf-PID.map -------------------------------------------------------- */

/* Some write 0x before their numbers. */
static bool take_hex(struct str *rest, uint64_t *out)
{
    struct str word;

    if (!str_split(rest, ' ', &word))
        return false;
    if (str_has_prefix(word, STR("0x")))
        word = str_skip(word, 2);
    return str_to_u64(word, 16, out);
}

bool jit_map_add_text(struct jit_map *m, struct str text)
{
    ptrdiff_t end = str_rfind_char(text, '\n'); /* the rest is being written */
    struct str line;
    uint64_t start, size;

    text.n = end < 0 ? 0 : (size_t)end;
    while (str_next_line(&text, &line))
        if (take_hex(&line, &start) && take_hex(&line, &size) &&
            !jit_map_add(m, start, size, str_trim(line)))
            return false;
    return true;
}

/* --- painting ------------------------------------------------------------ */

struct painter {
    const struct code *from;
    struct pages_vec to;
    uint32_t *heap; /* places in `from`, the newest code first */
    size_t n;
    uint64_t at; /* painted up to here */
};

static bool is_newer(const struct painter *p, size_t a, size_t b)
{
    return p->from[p->heap[a]].order > p->from[p->heap[b]].order;
}

static void swap(struct painter *p, size_t a, size_t b)
{
    uint32_t was = p->heap[a];

    p->heap[a] = p->heap[b];
    p->heap[b] = was;
}

static void heap_push(struct painter *p, uint32_t code)
{
    size_t i = p->n++;

    p->heap[i] = code;
    for (; i && is_newer(p, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(p, i, (i - 1) / 2);
}

static void heap_pop(struct painter *p)
{
    size_t i = 0;

    assert(p->n > 0);
    p->heap[0] = p->heap[--p->n];
    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < p->n && is_newer(p, child + 1, child))
            child++;
        if (child >= p->n || !is_newer(p, child, i))
            return;
        swap(p, i, child);
        i = child;
    }
}

static bool paint(struct painter *p, uint64_t limit)
{
    while (p->at < limit && p->n) {
        const struct code *top = &p->from[p->heap[0]];
        struct code *to;

        if (top->limit <= p->at) {
            heap_pop(p);
            continue;
        }
        to = pages_vec_push(&p->to, 1);
        if (!to)
            return false;
        assert(top->start <= p->at && p->at < top->limit);
        *to = *top;
        to->start = p->at;
        to->limit = top->limit < limit ? top->limit : limit;
        p->at = to->limit;
    }
    p->at = limit;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct code *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

bool jit_map_finish(struct jit_map *m)
{
    size_t n = m->codes.n;
    struct painter p = {.from = m->codes.p,
                        .to = {.size = sizeof(struct code)}};
    bool ok;

    if (n == 0)
        return true;
    qsort(m->codes.p, n, sizeof(struct code), by_start);
    p.heap = pages_alloc(n * sizeof(*p.heap));
    ok = p.heap != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        ok = paint(&p, p.from[i].start);
        heap_push(&p, (uint32_t)i);
    }
    ok = ok && paint(&p, UINT64_MAX);
    pages_free(p.heap, n * sizeof(*p.heap));
    pages_vec_release(&m->codes);
    m->codes = p.to;
    if (!ok)
        pages_vec_release(&m->codes);
    return ok;
}

bool jit_map_find(const struct jit_map *m, uint64_t address,
                  struct jit_code *out)
{
    const struct code *v = m->codes.p;
    size_t next = search_first(i, 0, m->codes.n, v[i].start > address);

    if (next == 0 || address >= v[next - 1].limit)
        return false;
    v += next - 1;
    *out = (struct jit_code){
        v->start, v->limit,
        str_of((const char *)m->names.p + v->name, v->name_n)};
    return true;
}
