#include "runtime/write/addresses.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/search.h"

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void addresses_sort(struct pages_vec *v)
{
    uint64_t *p = v->p;
    size_t kept = 0;

    if (v->n)
        qsort(p, v->n, sizeof(*p), by_number);
    for (size_t i = 0; i < v->n; i++)
        if (i == 0 || p[i] != p[kept - 1])
            p[kept++] = p[i];
    v->n = kept;
}

size_t addresses_index(const struct pages_vec *v, uint64_t address)
{
    const uint64_t *p = v->p;
    size_t at = search_first(i, 0, v->n, p[i] >= address);

    return at < v->n && p[at] == address ? at : SIZE_MAX;
}
