/*
 * One table serves both rules: it holds at most COMMENTS_MAX texts, or all of
 * the first profile's, with the number of profiles that had each.  A comment
 * that all profiles share is among the first profile's, so none is missed.
 */
#include "store/comments.h"

#include <stdlib.h>

#include "store/grow.h"
#include "store/row.h"

void comments_release(struct comments *c)
{
    table_release(&c->texts);
    free(c->profiles);
    free(c->last);
    free(c->all);
    *c = (struct comments){0};
}

void comments_next_profile(struct comments *c, int64_t time_ns)
{
    c->n_profiles++;
    c->time_ns = time_ns;
    c->position = 0;
}

/* Where it stood in the oldest profile that has it. */
static void place(struct comments *c, uint32_t i, bool is_new)
{
    struct comment *at = &c->all[i];
    uint32_t position = c->position++;

    if (is_new || row_is_older(c->time_ns, at->time_ns) ||
        (c->time_ns == at->time_ns && position < at->position))
        *at = (struct comment){.time_ns = c->time_ns, .position = position};
}

bool comments_add(struct comments *c, struct str comment)
{
    size_t known = c->texts.n;
    uint32_t i;

    if (c->n_profiles > 1 && c->texts.n >= COMMENTS_MAX &&
        !table_find(&c->texts, comment, &i)) {
        c->too_many = true;
        return true;
    }
    if (!table_intern(&c->texts, comment, &i) ||
        !grow(&c->profiles, &c->profiles_cap, (size_t)i + 1) ||
        !grow(&c->last, &c->last_cap, (size_t)i + 1) ||
        !grow(&c->all, &c->all_cap, (size_t)i + 1))
        return false;
    if (i == known)
        c->profiles[i] = c->last[i] = 0;
    place(c, i, i == known);
    if (c->last[i] != c->n_profiles)
        c->profiles[i]++;
    c->last[i] = c->n_profiles;
    return true;
}

static int by_time(const void *x, const void *y)
{
    const struct comment *a = x, *b = y;

    if (a->time_ns != b->time_ns)
        return row_is_older(a->time_ns, b->time_ns) ? -1 : 1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return str_cmp(a->text, b->text);
}

const struct comment *comments_sort(struct comments *c, size_t *n)
{
    size_t kept = 0;

    for (uint32_t i = 0; i < c->texts.n; i++)
        if (!c->too_many || c->profiles[i] == c->n_profiles) {
            c->all[kept] = c->all[i];
            c->all[kept++].text = table_get(&c->texts, i);
        }
    if (kept)
        qsort(c->all, kept, sizeof(*c->all), by_time);
    *n = kept;
    return c->all;
}
