/*
 * One table serves both rules: it holds at most COMMENTS_MAX texts, or all of
 * the first profile's, with the number of profiles that had each.  A comment
 * that all profiles share is among the first profile's, so none is missed.
 */
#include "store/comments.h"

#include <stdlib.h>

#include "store/grow.h"

void comments_release(struct comments *c)
{
    table_release(&c->texts);
    free(c->profiles);
    free(c->last);
    *c = (struct comments){0};
}

void comments_next_profile(struct comments *c)
{
    c->n_profiles++;
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
        !grow(&c->last, &c->last_cap, (size_t)i + 1))
        return false;
    if (i == known)
        c->profiles[i] = c->last[i] = 0;
    if (c->last[i] != c->n_profiles)
        c->profiles[i]++;
    c->last[i] = c->n_profiles;
    return true;
}

bool comments_keeps(const struct comments *c, uint32_t i)
{
    return !c->too_many || c->profiles[i] == c->n_profiles;
}
