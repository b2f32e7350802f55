/*
 * Profiles of the command line, kept whole in memory.
 *
 * A list under a read-write lock: requests copy a profile while they hold it
 * for reading; adding, removing and the first load of a single source hold it
 * for writing.  Copies are cheap next to the reports made from them, and free
 * each request from every other one.
 */
#include "page/file_source.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/memory_scope.h"
#include "base/utf8.h"
#include "profile/filter.h"
#include "profile/read.h"

struct loaded {
    uint32_t id;
    char *name;
    struct profile_pair pair; /* NULL: a source that was not requested yet */
    size_t index;             /* for options.load */
    bool is_added;
    bool is_dropped; /* it is not trusted */
};

struct file_source {
    struct file_source_options options;
    pthread_rwlock_t lock; /* of all below; who reads a profile holds it */
    struct loaded *list;
    size_t n;
    uint32_t last_id;
    pthread_mutex_t fetching;
};

static void *or_die(void *p)
{
    if (!p)
        abort(); /* as an arena does */
    return p;
}

/* A copy with a NUL, of whole code points. */
static char *copy_name(struct str name)
{
    size_t n = 0, one;

    while (n < name.n && (one = utf8_sequence(str_skip(name, n))) > 0 &&
           n + one <= FILE_SOURCE_MAX_NAME)
        n += one;
    return or_die(strndup(n > 0 ? name.s : "profile", n > 0 ? n : 7));
}

/* With the lock held for writing. */
static struct loaded *append(struct file_source *s, struct str name)
{
    struct loaded *p;

    s->list = or_die(realloc(s->list, (s->n + 1) * sizeof(*s->list)));
    p = &s->list[s->n++];
    *p = (struct loaded){.id = ++s->last_id, .name = copy_name(name)};
    return p;
}

static void release(struct loaded *p)
{
    free(p->name);
    profile_pair_free(p->pair);
}

/* NULL if there is none; "" is the first. */
static struct loaded *find(struct file_source *s, struct str id)
{
    uint64_t number = 0;

    if (id.n == 0)
        return &s->list[0];
    if (!str_to_u64(id, 10, &number))
        return NULL;
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].id == number)
            return &s->list[i];
    return NULL;
}

static bool no_profile(struct str id, struct error *err)
{
    return error_set(err, "there is no profile %" STR_FMT, STR_ARG(id));
}

/* The profiles of the page outlive the request that brings them. */
static struct profile *load_paused(const struct file_source_options *o,
                                   size_t index, struct error *err)
{
    struct memory_scope *scope = memory_scope_pause();
    struct profile *p = o->load(o->arg, index, err);

    memory_scope_resume(scope);
    return p;
}

static bool fetch_paused(const struct file_source_options *o,
                         struct profile_pair *out, struct error *err)
{
    struct memory_scope *scope = memory_scope_pause();
    bool ok = o->fetch(o->arg, out, err);

    memory_scope_resume(scope);
    return ok;
}

/* Finds symbols: paused, as that may ask other servers. */
static bool adopt_paused(const struct file_source_options *o, struct profile *p,
                         struct error *err)
{
    struct memory_scope *scope = memory_scope_pause();
    bool ok = !o->adopt || o->adopt(o->arg, p, err);

    memory_scope_resume(scope);
    return ok;
}

/* Makes sure that a source is in memory. */
static bool load(struct file_source *s, struct str id, struct error *err)
{
    const struct file_source_options *o = &s->options;
    struct loaded *p;
    bool ok;

    pthread_rwlock_wrlock(&s->lock);
    p = find(s, id);
    if (p && !p->pair.profile) {
        assert(o->load && p->index < o->n_names);
        p->pair.profile = load_paused(o, p->index, err);
    }
    ok = p ? p->pair.profile != NULL : no_profile(id, err);
    pthread_rwlock_unlock(&s->lock);
    return ok;
}

struct copying {
    const struct loaded *from;
    struct arena *arena;
    struct profile_pair pair;
    struct str name;
};

static void copy_loaded(void *arg)
{
    struct copying *c = arg;

    c->pair.profile = profile_copy(c->from->pair.profile);
    if (c->from->pair.base)
        c->pair.base = profile_copy(c->from->pair.base);
    c->name = arena_str(c->arena, str_from(c->from->name));
}

/* Copies both profiles and the name. */
static struct profile_pair copy(struct file_source *s, struct str id,
                                struct arena *a, struct str *name,
                                struct error *err)
{
    struct copying copying = {.arena = a};
    struct loaded *p;
    bool absent, is_there, ok = true;

    pthread_rwlock_rdlock(&s->lock);
    p = find(s, id);
    absent = !p;
    is_there = p && p->pair.profile;
    if (is_there) {
        /* In a scope of its own, since the lock is held. */
        copying.from = p;
        ok = memory_scope_run(MEMORY_UNLIMITED, copy_loaded, &copying, err);
    }
    pthread_rwlock_unlock(&s->lock);
    if (!ok)
        return (struct profile_pair){0};
    if (absent)
        no_profile(id, err);
    else if (!is_there && load(s, id, err))
        return copy(s, id, a, name, err);
    *name = copying.name;
    return copying.pair;
}

/* Subtracts the base of the command line.  When two profiles are compared,
 * what was to be compared with a base stands for itself; -base makes another
 * profile of it, as the command line said. */
static struct profile *settle(const struct file_source *s,
                              struct profile_pair pair,
                              struct page_take_options how, struct error *err)
{
    const struct file_source_options *o = &s->options;
    struct diff_options diff = {.mark = o->marks_base,
                                .normalize = how.is_compared ? o->normalizes
                                                             : how.normalize};
    struct profile *p = pair.profile;

    if (how.is_compared && o->marks_base)
        profile_free(pair.base);
    else
        p = profile_diff(p, pair.base, diff, err);
    if (p && o->finish && !o->finish(o->arg, p, err)) {
        profile_free(p);
        return NULL;
    }
    return p;
}

static struct page_side side_of(const struct profile *p, struct str name)
{
    return (struct page_side){
        .name = name, .time_ns = p->time_ns, .duration_ns = p->duration_ns};
}

static struct str selection_of(struct arena *a, uint32_t id)
{
    return str_from(arena_printf(a, "%u", id));
}

static bool resolve(void *arg, struct arena *a, struct http_exchange *x,
                    struct str selection, struct page_content *out,
                    struct error *err)
{
    struct file_source *s = arg;
    struct loaded *p, found = {0};

    (void)x;
    pthread_rwlock_rdlock(&s->lock);
    p = find(s, selection);
    if (p)
        found = *p;
    pthread_rwlock_unlock(&s->lock);
    if (!p)
        return no_profile(selection, err);
    *out = (struct page_content){.selection = selection_of(a, found.id),
                                 .has_base = found.pair.base != NULL,
                                 .is_trusted = !found.is_dropped};
    out->id = out->selection;
    return true;
}

static bool take(void *arg, struct arena *a, struct http_exchange *x,
                 const struct page_content *content,
                 struct page_take_options how, struct page_taken *out,
                 struct error *err)
{
    struct file_source *s = arg;
    struct str name = {0};
    struct profile_pair pair = copy(s, content->id, a, &name, err);

    (void)x;
    if (!pair.profile)
        return false;
    *out = (struct page_taken){.side = side_of(pair.profile, name)};
    if (pair.base && s->options.marks_base)
        out->base = side_of(pair.base, s->options.base_name);
    out->profile = pair.base ? settle(s, pair, how, err) : pair.profile;
    return out->profile != NULL;
}

static bool has_room(const struct file_source *s, struct error *err)
{
    size_t added = 0;

    for (size_t i = 0; i < s->n; i++)
        added += s->list[i].is_added;
    if (added < FILE_SOURCE_MAX_ADDED)
        return true;
    return error_set(err, "%d profiles are open already: close one first",
                     FILE_SOURCE_MAX_ADDED);
}

/* Frees the profiles when there is no room. */
static bool keep(struct file_source *s, struct str name,
                 struct profile_pair pair, bool is_dropped, uint32_t *id,
                 struct error *err)
{
    bool ok;

    assert(pair.profile);
    pthread_rwlock_wrlock(&s->lock);
    ok = has_room(s, err);
    if (ok) {
        struct loaded *added = append(s, name);

        arena_detach(pair.profile->arena);
        if (pair.base)
            arena_detach(pair.base->arena);
        added->pair = pair;
        added->is_added = true;
        added->is_dropped = is_dropped;
        *id = added->id;
    }
    pthread_rwlock_unlock(&s->lock);
    if (!ok)
        profile_pair_free(pair);
    return ok;
}

/* Before anything is read or fetched. */
static bool ask_for_room(struct file_source *s, struct error *err)
{
    bool ok;

    pthread_rwlock_rdlock(&s->lock);
    ok = has_room(s, err);
    pthread_rwlock_unlock(&s->lock);
    return ok;
}

/* What a dropped file may become: a few bytes of gzip can be gigabytes.  Less
 * is taken from other machines. */
static const struct profile_limits limits_local = {
    .input_bytes = (size_t)1 << 30,
    .inflated_bytes = (size_t)2 << 30,
    .samples = (size_t)1 << 26,
    .string_bytes = (size_t)1 << 30,
    .stack_depth = (size_t)1 << 20,
    .records = (size_t)1 << 26,
};

static const struct profile_limits limits_foreign = {
    .input_bytes = (size_t)64 << 20,
    .inflated_bytes = (size_t)128 << 20,
    .samples = (size_t)1 << 22,
    .string_bytes = (size_t)64 << 20,
    .stack_depth = (size_t)1 << 16,
    .records = (size_t)1 << 22,
};

static bool add(void *arg, struct arena *a, struct str name, struct str bytes,
                struct str *selection, struct error *err)
{
    struct file_source *s = arg;
    const struct file_source_options *o = &s->options;
    struct profile *p;
    struct error ignored; /* a bad drop_frames prunes nothing */
    uint32_t id = 0;

    if (!ask_for_room(s, err))
        return false;
    p = profile_read_memory(bytes,
                            o->is_local ? &limits_local : &limits_foreign, err);
    if (!p)
        return false;
    if (!adopt_paused(o, p, err)) {
        profile_free(p);
        return false;
    }
    profile_prune(p, &ignored);
    if (!keep(s, name, (struct profile_pair){.profile = p}, true, &id, err))
        return false;
    *selection = selection_of(a, id);
    return true;
}

static void name_by_time(struct buf *out, struct str name)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[16];

    localtime_r(&now, &tm);
    strftime(text, sizeof(text), "%H:%M:%S", &tm);
    buf_add(out, str_first(name, FILE_SOURCE_MAX_NAME));
    buf_addf(out, " (%s)", text);
}

static bool fetch(void *arg, struct arena *a, struct str *selection,
                  struct error *err)
{
    struct file_source *s = arg;
    const struct file_source_options *o = &s->options;
    struct buf name = BUF_INIT(FILE_SOURCE_MAX_NAME + 64);
    struct profile_pair pair;
    uint32_t id = 0;
    bool ok;

    if (!ask_for_room(s, err))
        return false;
    if (pthread_mutex_trylock(&s->fetching) != 0)
        return error_set(err, "the profile is being fetched already");
    ok = fetch_paused(o, &pair, err);
    pthread_mutex_unlock(&s->fetching);
    if (!ok)
        return false;
    name_by_time(&name, o->name);
    ok = keep(s, buf_str(&name), pair, false, &id, err);
    buf_release(&name);
    if (ok)
        *selection = selection_of(a, id);
    return ok;
}

static bool remove_added(void *arg, struct str id, struct error *err)
{
    struct file_source *s = arg;
    struct loaded *p, gone = {0};
    bool ok = true;

    pthread_rwlock_wrlock(&s->lock);
    p = id.n > 0 ? find(s, id) : NULL;
    if (!p) {
        ok = no_profile(id, err);
    } else if (!p->is_added) {
        ok = error_set(err, "a profile of the command line stays");
    } else {
        gone = *p;
        memmove(p, p + 1, (size_t)(s->list + s->n - (p + 1)) * sizeof(*p));
        s->n--;
    }
    pthread_rwlock_unlock(&s->lock);
    release(&gone);
    return ok;
}

static void list(void *arg, page_list_visitor *visit, void *to)
{
    struct file_source *s = arg;

    pthread_rwlock_rdlock(&s->lock);
    for (size_t i = 0; i < s->n; i++) {
        char id[16];

        snprintf(id, sizeof(id), "%u", s->list[i].id);
        visit(to, &(struct page_listed){.selection = str_from(id),
                                        .name = str_from(s->list[i].name),
                                        .is_added = s->list[i].is_added});
    }
    pthread_rwlock_unlock(&s->lock);
}

static void release_all(void *arg)
{
    struct file_source *s = arg;

    for (size_t i = 0; i < s->n; i++)
        release(&s->list[i]);
    free(s->list);
    pthread_mutex_destroy(&s->fetching);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

struct page_source file_source(struct profile_pair pair,
                               const struct file_source_options *options)
{
    struct file_source *s = or_die(calloc(1, sizeof(*s)));

    assert(pair.profile);
    s->options = *options;
    pthread_rwlock_init(&s->lock, NULL);
    pthread_mutex_init(&s->fetching, NULL);
    append(s, options->name)->pair = pair;
    for (size_t i = 0; options->load && i < options->n_names; i++)
        append(s, options->names[i])->index = i;
    return (struct page_source){.arg = s,
                                .resolve = resolve,
                                .take = take,
                                .list = list,
                                .add = add,
                                .fetch = options->fetch ? fetch : NULL,
                                .remove = remove_added,
                                .release = release_all};
}
