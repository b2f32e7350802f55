#include "collector/scrape/show_view.h"

#include <stdlib.h>

static int in_order(const void *x, const void *y)
{
    const struct target *a = (*(struct entry *const *)x)->target;
    const struct target *b = (*(struct entry *const *)y)->target;
    int c = str_cmp(a->job->name, b->job->name);

    if (c == 0)
        c = str_cmp(a->service, b->service);
    return c ? c : str_cmp(a->instance, b->instance);
}

struct show_list show_list_make(struct scraper *s, struct arena *a,
                                show_may_see *may_see, void *arg)
{
    struct show_list list = {
        .v = arena_new_array(a, struct entry *, s->n_entries)};

    for (size_t i = 0; i < s->n_entries; i++)
        if (!may_see || may_see(arg, s->entries[i]->target->service))
            list.v[list.n++] = s->entries[i];
    if (list.n)
        qsort(list.v, list.n, sizeof(*list.v), in_order);
    return list;
}

enum show_health show_health_of(const struct entry *e)
{
    bool up = false, down = false;

    for (const struct task *t = e->tasks; t; t = t->next) {
        bool counts = t->outcome.at_ns && !(task_is_index(t) && t->next);

        up |= counts && t->outcome.reason == SCRAPE_OK;
        down |= counts && t->outcome.reason != SCRAPE_OK;
    }
    return down ? SHOW_DOWN : up ? SHOW_UP : SHOW_UNKNOWN;
}

const char *show_health_words(enum show_health h)
{
    return h == SHOW_UP ? "up" : h == SHOW_DOWN ? "down" : "unknown";
}

struct str show_task_name(const struct task *t)
{
    return task_is_index(t) ? STR("index") : t->profile.kind.name;
}
