#include "collector/scrape/choose.h"

#include "base/clock.h"
#include "fetch/index.h"

const char *flavour_words(enum flavour f)
{
    static const char *const words[] = {[FLAVOUR_UNKNOWN] = "",
                                        [FLAVOUR_GO] = "Go",
                                        [FLAVOUR_OLD_GO] = "Go before 1.11",
                                        [FLAVOUR_PPROF_C] = "pprof-c",
                                        [FLAVOUR_OTHER] = "other"};

    return words[f];
}

static const struct index_entry *find(const struct index_entries *page,
                                      struct str name)
{
    for (size_t i = 0; i < page->list.n; i++)
        if (str_eq(page->list.v[i].name, name))
            return &page->list.v[i];
    return NULL;
}

static enum flavour recognise(const struct index_entries *page)
{
    if (find(page, STR("wall")) && find(page, STR("leak")))
        return FLAVOUR_PPROF_C;
    if (!find(page, STR("goroutine")) || !find(page, STR("threadcreate")))
        return FLAVOUR_OTHER;
    return find(page, STR("allocs")) ? FLAVOUR_GO : FLAVOUR_OLD_GO;
}

static void take(struct chosen *out, const struct scrape_job *job,
                 const struct scrape_kind *kind)
{
    if (out->n == CHOSEN_MAX)
        return;
    out->v[out->n++] = (struct scrape_profile){
        .kind = *kind,
        .seconds_ns = kind->measures ? scrape_default_seconds(job) : 0};
}

/* Returns true if the page has a profile of the same type that sends
 * differences. */
static bool has_better(const struct index_entries *page,
                       const struct scrape_kind *kind)
{
    for (size_t i = 0; i < scrape_kinds_n; i++) {
        const struct scrape_kind *k = &scrape_kinds[i];

        if (k->is_delta && !kind->is_delta && str_eq(k->type, kind->type) &&
            find(page, k->path))
            return true;
    }
    return false;
}

/* Go before 1.11 does not list the CPU profile. */
static bool is_useful(const struct index_entries *page, enum flavour flavour,
                      const struct scrape_kind *kind)
{
    const struct index_entry *e = find(page, kind->path);

    if (flavour == FLAVOUR_OLD_GO && str_eq(kind->name, STR("cpu")))
        return true;
    return e && kind->by_default && !has_better(page, kind) &&
           (kind->measures || !str_eq(e->count, STR("0")));
}

void choose_profiles(const struct scrape_job *job, struct str page,
                     struct chosen *out)
{
    struct index_entries entries = {0};
    struct arena *a = arena_new();
    bool is_page = page.n && index_parse(a, page, &entries);

    *out = (struct chosen){.flavour = FLAVOUR_UNKNOWN};
    if (is_page)
        out->flavour = recognise(&entries);
    for (size_t i = 0; i < scrape_kinds_n; i++) {
        const struct scrape_kind *k = &scrape_kinds[i];

        if (is_page
                ? is_useful(&entries, out->flavour, k)
                : str_eq(k->name, STR("cpu")) || str_eq(k->name, STR("heap")))
            take(out, job, k);
    }
    arena_free(a);
}
