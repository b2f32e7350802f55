/*
 * The page's source over a store.
 *
 * resolve() reads descriptions only; take() merges, or copies a merge that is
 * kept.  The canonical text of a content has absolute times, so take() reads
 * it again and works on the range that resolve() looked at.
 *
 * The kept merges are a short list under a lock.  A place is entered before
 * its merge is made, so that a second request waits instead of merging again.
 * Copies are made without the lock: a place that is in use is not dropped.
 */
#include "cmd/pprofd/fleet_source.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory_scope.h"
#include "collector/query/selection.h"
#include "collector/restriction.h"
#include "http/access/guard.h"

#define KEPT_MAX     8
#define KEPT_SAMPLES ((size_t)2 << 20)

struct kept {
    char *id; /* NULL: a free place */
    size_t id_bytes;
    struct profile *profile; /* NULL: being made */
    unsigned users;
    uint64_t turn; /* when it was last asked for */
};

struct fleet {
    struct fleet_source_options options;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t made;
    struct kept kept[KEPT_MAX];
    uint64_t turn;
};

/* --- a selection ---------------------------------------------------------- */

/* The matchers of a selection and what the client may read at all. */
static struct store_query query_of(const struct selection *s, struct arena *a,
                                   struct http_exchange *x)
{
    size_t n = s->selector.n;
    struct store_matcher *all = arena_new_array(a, struct store_matcher, n + 1);

    if (n > 0)
        memcpy(all, s->selector.matchers, n * sizeof(*all));
    if (x && restriction_of(&x->identity, a, &all[n]))
        n++;
    return (struct store_query){.matchers = all,
                                .n_matchers = n,
                                .from_ns = s->from_ns,
                                .to_ns = s->to_ns};
}

static bool client_has_gone(void *x)
{
    return !http_exchange_wait(x, 0);
}

static struct store_budget budget_of(const struct fleet *f,
                                     struct http_exchange *x)
{
    struct store_budget budget = f->options.query;

    budget.cancelled = x ? client_has_gone : NULL;
    budget.arg = x;
    return budget;
}

struct single {
    struct http_exchange *x;
    struct arena *arena;
    bool is_readable;
    struct page_side side;
};

static bool look_at_single(void *arg, const struct store_profile *p)
{
    struct single *s = arg;

    s->is_readable =
        !s->x || guard_allows(&s->x->identity, HTTP_MAY_READ, p->service);
    s->side = (struct page_side){
        .name = str_from(arena_printf(s->arena, "%" STR_FMT ".%" STR_FMT,
                                      STR_ARG(p->service), STR_ARG(p->type))),
        .time_ns = p->created_at_ns,
        .duration_ns = p->duration_ns};
    return false;
}

/* A profile that the client may not see is like one that is not there. */
static bool find_single(struct fleet *f, const struct selection *selection,
                        struct single *out, struct error *err)
{
    enum store_status status = store_describe(f->options.store, &selection->id,
                                              look_at_single, out, err);

    if (status == STORE_NOT_FOUND || (status == STORE_OK && !out->is_readable))
        return error_set(err, "there is no such profile; it may have expired");
    return status == STORE_OK;
}

/* --- resolve -------------------------------------------------------------- */

static struct str id_of(struct arena *a, const struct selection *s,
                        const struct store_query *q,
                        const struct store_version *v)
{
    struct buf id = arena_buf(a);

    selector_format(&s->selector, a, &id);
    /* What a restricted client sees is another content. */
    if (q->n_matchers > s->selector.n)
        buf_add(&id, q->matchers[s->selector.n].value);
    buf_addf(&id, " %d %016" PRIx64 " %" PRIu64 " %" PRId64, (int)s->values,
             v->hash, v->profiles, v->newest_ns);
    return buf_str(&id);
}

static bool resolve_range(struct fleet *f, struct arena *a,
                          struct http_exchange *x, const struct selection *s,
                          struct page_content *out, struct error *err)
{
    struct store_query q = query_of(s, a, x);
    struct store_budget budget = budget_of(f, x);
    struct store_version version;

    if (store_get_version(f->options.store, &q, &budget, &version, err) !=
        STORE_OK)
        return false;
    if (version.profiles == 0)
        return error_set(err, "no profile matches %" STR_FMT,
                         STR_ARG(out->selection));
    out->id = id_of(a, s, &q, &version);
    return true;
}

static bool resolve(void *arg, struct arena *a, struct http_exchange *x,
                    struct str text, struct page_content *out,
                    struct error *err)
{
    struct fleet *f = arg;
    struct buf canonical = arena_buf(a);
    struct single single = {.x = x, .arena = a};
    struct selection s;
    bool ok;

    if (!selection_parse(&s, a, text, clock_realtime_ns(), err))
        return false;
    selection_format(&s, a, &canonical);
    *out = (struct page_content){.selection = buf_str(&canonical),
                                 .id = buf_str(&canonical)};
    ok = s.is_single ? find_single(f, &s, &single, err)
                     : resolve_range(f, a, x, &s, out, err);
    selection_release(&s);
    return ok;
}

/* --- merges that are kept ------------------------------------------------- */

static void drop(struct kept *k)
{
    free(k->id);
    profile_free(k->profile);
    *k = (struct kept){0};
}

static size_t kept_samples(const struct fleet *f)
{
    size_t n = 0;

    for (size_t i = 0; i < KEPT_MAX; i++)
        n += f->kept[i].profile ? f->kept[i].profile->n_samples : 0;
    return n;
}

/* The least recently used entry that is not in use; NULL: none. */
static struct kept *oldest(struct fleet *f)
{
    struct kept *found = NULL;

    for (size_t i = 0; i < KEPT_MAX; i++) {
        struct kept *k = &f->kept[i];

        if (k->id && k->users == 0 && (!found || k->turn < found->turn))
            found = k;
    }
    return found;
}

static struct kept *find(struct fleet *f, struct str id)
{
    for (size_t i = 0; i < KEPT_MAX; i++)
        if (f->kept[i].id &&
            str_eq(str_of(f->kept[i].id, f->kept[i].id_bytes), id))
            return &f->kept[i];
    return NULL;
}

/* A place for a merge that is to be made; NULL: all are in use. */
static struct kept *enter(struct fleet *f, struct str id)
{
    struct kept *k = NULL;

    for (size_t i = 0; i < KEPT_MAX && !k; i++)
        k = f->kept[i].id ? NULL : &f->kept[i];
    if (!k && (k = oldest(f)) != NULL)
        drop(k);
    if (!k || !(k->id = malloc(id.n + 1)))
        return NULL;
    memcpy(k->id, id.s, id.n);
    k->id_bytes = id.n;
    return k;
}

/* Uses the place of a merge, and waits while another request makes it.
 * *is_mine: it is the caller's to make.  NULL: there is no place. */
static struct kept *use(struct fleet *f, struct str id, bool *is_mine)
{
    struct kept *k;

    *is_mine = false;
    pthread_mutex_lock(&f->lock);
    while ((k = find(f, id)) != NULL && !k->profile)
        pthread_cond_wait(&f->made, &f->lock);
    if (!k) {
        k = enter(f, id);
        *is_mine = true;
    }
    if (k) {
        k->users++;
        k->turn = ++f->turn;
    }
    pthread_mutex_unlock(&f->lock);
    return k;
}

/* Hands a place back: `made` is its merge now, or there is none. */
static void settle(struct fleet *f, struct kept *k, struct profile *made)
{
    size_t max =
        f->options.kept_samples ? f->options.kept_samples : KEPT_SAMPLES;
    struct kept *gone;

    pthread_mutex_lock(&f->lock);
    if (made)
        k->profile = made;
    k->users--;
    if (!k->profile)
        drop(k);
    while (kept_samples(f) > max && (gone = oldest(f)) != NULL)
        drop(gone);
    pthread_cond_broadcast(&f->made);
    pthread_mutex_unlock(&f->lock);
}

/* --- take ----------------------------------------------------------------- */

struct making {
    struct fleet *fleet;
    struct arena *arena;
    struct http_exchange *x;
    const struct selection *selection;
    const struct profile *from; /* a copy of this, if there is one */
    struct profile *made;
    struct error *err;
};

static void make(void *arg)
{
    struct making *m = arg;
    struct store *store = m->fleet->options.store;
    struct store_query q;
    struct store_budget budget;

    if (m->from) {
        m->made = profile_copy(m->from);
    } else if (m->selection->is_single) {
        if (store_get(store, &m->selection->id, &m->made, m->err) != STORE_OK)
            m->made = NULL;
    } else {
        q = query_of(m->selection, m->arena, m->x);
        budget = budget_of(m->fleet, m->x);
        if (store_merge(store, &q, m->selection->values, &budget, &m->made,
                        NULL, m->err) != STORE_OK)
            m->made = NULL;
    }
}

/* In a scope of its own: a request that runs out of memory must still hand
 * its place back. */
static struct profile *run(struct making *m)
{
    m->made = NULL;
    return memory_scope_run(MEMORY_UNLIMITED, make, m, m->err) ? m->made : NULL;
}

static struct profile *merge(struct making *m, struct str id)
{
    bool is_mine;
    struct kept *k = use(m->fleet, id, &is_mine);
    struct profile *mine = NULL, *copy;

    if (!k)
        return run(m);
    if (is_mine && (mine = run(m)) == NULL) {
        settle(m->fleet, k, NULL);
        return NULL;
    }
    if (mine)
        arena_detach(mine->arena);
    m->from = is_mine ? mine : k->profile;
    copy = run(m);
    settle(m->fleet, k, mine);
    return copy;
}

static struct page_side side_of(const struct selection *s, struct arena *a)
{
    return (struct page_side){.name = selection_name(s, a),
                              .time_ns = s->from_ns,
                              .duration_ns = s->to_ns - s->from_ns};
}

static bool take(void *arg, struct arena *a, struct http_exchange *x,
                 const struct page_content *content,
                 struct page_take_options how, struct page_taken *out,
                 struct error *err)
{
    struct fleet *f = arg;
    struct selection s;
    struct single single = {.x = x, .arena = a};
    struct making m = {
        .fleet = f, .arena = a, .x = x, .selection = &s, .err = err};
    bool ok;

    (void)how; /* no selection has a base of its own */
    if (!selection_parse(&s, a, content->selection, 0, err))
        return false;
    ok = !s.is_single || find_single(f, &s, &single, err);
    if (ok) {
        *out = (struct page_taken){.side = s.is_single ? single.side
                                                       : side_of(&s, a)};
        out->profile = merge(&m, content->id);
        ok = out->profile != NULL;
    }
    selection_release(&s);
    return ok;
}

/* --- life ----------------------------------------------------------------- */

static void release(void *arg)
{
    struct fleet *f = arg;

    for (size_t i = 0; i < KEPT_MAX; i++)
        drop(&f->kept[i]);
    pthread_cond_destroy(&f->made);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

struct page_source fleet_source(const struct fleet_source_options *options)
{
    struct fleet *f = calloc(1, sizeof(*f));

    if (!f)
        abort(); /* as an arena does */
    f->options = *options;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->made, NULL);
    return (struct page_source){.arg = f,
                                .resolve = resolve,
                                .take = take,
                                .release = release,
                                .is_fleet = true};
}
