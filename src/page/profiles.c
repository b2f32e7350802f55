#include "page/profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/utf8.h"
#include "profile/filter.h"
#include "profile/read.h"

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
           n + one <= PROFILES_MAX_NAME)
        n += one;
    return or_die(strndup(n > 0 ? name.s : "profile", n > 0 ? n : 7));
}

/* With the lock held for writing. */
static struct page_profile *append(struct profiles *ps, struct str name)
{
    struct page_profile *p;

    ps->list = or_die(realloc(ps->list, (ps->n + 1) * sizeof(*ps->list)));
    p = &ps->list[ps->n++];
    *p = (struct page_profile){.id = ++ps->last_id, .name = copy_name(name)};
    return p;
}

void profiles_init(struct profiles *ps, struct profile_pair pair,
                   const struct page_options *options)
{
    *ps = (struct profiles){.options = options};
    pthread_rwlock_init(&ps->lock, NULL);
    pthread_mutex_init(&ps->fetching, NULL);
    append(ps, options->name)->pair = pair;
    for (size_t i = 0; options->load && i < options->n_sources; i++)
        append(ps, options->sources[i])->source = i;
}

static void release(struct page_profile *p)
{
    free(p->name);
    profile_pair_free(p->pair);
}

void profiles_release(struct profiles *ps)
{
    for (size_t i = 0; i < ps->n; i++)
        release(&ps->list[i]);
    free(ps->list);
    pthread_mutex_destroy(&ps->fetching);
    pthread_rwlock_destroy(&ps->lock);
}

/* NULL if there is none; "" is the first. */
static struct page_profile *find(struct profiles *ps, struct str id)
{
    uint64_t number = 0;

    if (id.n == 0)
        return &ps->list[0];
    if (!str_to_u64(id, 10, &number))
        return NULL;
    for (size_t i = 0; i < ps->n; i++)
        if (ps->list[i].id == number)
            return &ps->list[i];
    return NULL;
}

static bool no_profile(struct str id, struct error *err)
{
    return error_set(err, "there is no profile %" STR_FMT, STR_ARG(id));
}

/* Makes sure that a source is in memory. */
static bool load(struct profiles *ps, struct str id, struct error *err)
{
    const struct page_options *o = ps->options;
    struct page_profile *p;
    bool ok;

    pthread_rwlock_wrlock(&ps->lock);
    p = find(ps, id);
    if (p && !p->pair.profile)
        p->pair.profile = o->load(o->arg, p->source, err);
    ok = p ? p->pair.profile != NULL : no_profile(id, err);
    pthread_rwlock_unlock(&ps->lock);
    return ok;
}

static struct profile_pair copy(struct profiles *ps, struct str id,
                                bool *is_dropped, struct error *err)
{
    struct profile_pair taken = {0};
    struct page_profile *p;
    bool absent;

    pthread_rwlock_rdlock(&ps->lock);
    p = find(ps, id);
    absent = !p;
    if (p && p->pair.profile) {
        taken.profile = profile_copy(p->pair.profile);
        if (p->pair.base)
            taken.base = profile_copy(p->pair.base);
        *is_dropped |= p->is_dropped;
    }
    pthread_rwlock_unlock(&ps->lock);
    if (absent)
        no_profile(id, err);
    else if (!taken.profile && load(ps, id, err))
        return copy(ps, id, is_dropped, err);
    return taken;
}

/* What happens to one profile on its way to a request. */
struct taking {
    struct profiles *profiles;
    bool compares; /* it is one of two */
    bool normalize;
    bool is_dropped; /* is set when it is */
};

/* Takes the base of the command line off.  When two profiles are compared,
 * what was to be compared with a base stands for itself; -base makes another
 * profile of it, as the command line said. */
static struct profile *settle(const struct taking *t, struct profile_pair pair,
                              struct error *err)
{
    const struct page_options *o = t->profiles->options;
    struct diff_options how = {.mark = o->marks_base,
                               .normalize = t->compares ? o->config->normalize
                                                        : t->normalize};
    struct profile *p = pair.profile;

    if (t->compares && o->marks_base)
        profile_free(pair.base);
    else
        p = profile_diff(p, pair.base, how, err);
    if (p && o->finish && !o->finish(o->arg, p, err)) {
        profile_free(p);
        return NULL;
    }
    return p;
}

static struct profile *take(struct taking *t, struct str id, struct error *err)
{
    struct profile_pair pair = copy(t->profiles, id, &t->is_dropped, err);

    return pair.base ? settle(t, pair, err) : pair.profile;
}

struct profile *profiles_take(struct profiles *ps,
                              const struct profile_choice *choice,
                              bool *is_trusted, struct error *err)
{
    struct taking t = {.profiles = ps, .normalize = choice->normalize};
    struct profile *p, *base;

    t.compares = choice->base.n > 0;
    p = take(&t, choice->profile, err);
    if (p && t.compares) {
        base = take(&t, choice->base, err);
        if (base) {
            p = profile_diff(p, base,
                             (struct diff_options){
                                 .mark = true, .normalize = choice->normalize},
                             err);
        } else {
            profile_free(p);
            p = NULL;
        }
    }
    *is_trusted = !t.is_dropped;
    return p;
}

bool profiles_have_base(struct profiles *ps,
                        const struct profile_choice *choice)
{
    struct page_profile *p;
    bool has;

    pthread_rwlock_rdlock(&ps->lock);
    p = find(ps, choice->profile);
    has = choice->base.n > 0 || (p && p->pair.base);
    pthread_rwlock_unlock(&ps->lock);
    return has;
}

static bool has_room(struct profiles *ps, struct error *err)
{
    size_t added = 0;

    for (size_t i = 0; i < ps->n; i++)
        added += ps->list[i].is_added;
    if (added < PROFILES_MAX_ADDED)
        return true;
    return error_set(err, "%d profiles are open already: close one first",
                     PROFILES_MAX_ADDED);
}

/* Frees the profiles when there is no room. */
static bool add(struct profiles *ps, struct str name, struct profile_pair pair,
                bool is_dropped, uint32_t *id, struct error *err)
{
    bool ok;

    pthread_rwlock_wrlock(&ps->lock);
    ok = has_room(ps, err);
    if (ok) {
        struct page_profile *added = append(ps, name);

        added->pair = pair;
        added->is_added = true;
        added->is_dropped = is_dropped;
        *id = added->id;
    }
    pthread_rwlock_unlock(&ps->lock);
    if (!ok)
        profile_pair_free(pair);
    return ok;
}

/* Before anything is read or fetched. */
static bool ask_for_room(struct profiles *ps, struct error *err)
{
    bool ok;

    pthread_rwlock_rdlock(&ps->lock);
    ok = has_room(ps, err);
    pthread_rwlock_unlock(&ps->lock);
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

bool profiles_add(struct profiles *ps, struct str name, struct str bytes,
                  uint32_t *id, struct error *err)
{
    const struct page_options *o = ps->options;
    struct profile *p;
    struct error ignored; /* a bad drop_frames prunes nothing */

    if (!ask_for_room(ps, err))
        return false;
    p = profile_read_memory(
        bytes, o->local_only ? &limits_local : &limits_foreign, err);
    if (!p)
        return false;
    if (o->adopt && !o->adopt(o->arg, p, err)) {
        profile_free(p);
        return false;
    }
    profile_prune(p, &ignored);
    return add(ps, name, (struct profile_pair){.profile = p}, true, id, err);
}

static void name_by_time(struct buf *out, struct str name)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[16];

    localtime_r(&now, &tm);
    strftime(text, sizeof(text), "%H:%M:%S", &tm);
    buf_add(out, name);
    buf_addf(out, " (%s)", text);
}

bool profiles_fetch(struct profiles *ps, uint32_t *id, struct error *err)
{
    const struct page_options *o = ps->options;
    struct buf name = BUF_INIT(BUF_NO_LIMIT);
    struct profile_pair pair;
    bool ok;

    if (!o->fetch)
        return error_set(err, "this profile cannot be fetched again");
    if (!ask_for_room(ps, err))
        return false;
    if (pthread_mutex_trylock(&ps->fetching) != 0)
        return error_set(err, "the profile is being fetched already");
    ok = o->fetch(o->arg, &pair, err);
    pthread_mutex_unlock(&ps->fetching);
    if (!ok)
        return false;
    name_by_time(&name, o->name);
    ok = add(ps, buf_str(&name), pair, false, id, err);
    buf_release(&name);
    return ok;
}

bool profiles_remove(struct profiles *ps, struct str id, struct error *err)
{
    struct page_profile *p, gone = {0};
    bool ok = true;

    pthread_rwlock_wrlock(&ps->lock);
    p = id.n > 0 ? find(ps, id) : NULL;
    if (!p) {
        ok = no_profile(id, err);
    } else if (!p->is_added) {
        ok = error_set(err, "a profile of the command line stays");
    } else {
        gone = *p;
        memmove(p, p + 1, (size_t)(ps->list + ps->n - (p + 1)) * sizeof(*p));
        ps->n--;
    }
    pthread_rwlock_unlock(&ps->lock);
    release(&gone);
    return ok;
}

void profiles_add_json(struct json *j, struct profiles *ps)
{
    json_key(j, STR("profiles"));
    json_open(j, '[');
    pthread_rwlock_rdlock(&ps->lock);
    for (size_t i = 0; i < ps->n; i++) {
        char id[16];

        snprintf(id, sizeof(id), "%u", ps->list[i].id);
        json_open(j, '{');
        json_key(j, STR("id"));
        json_string(j, str_from(id));
        json_key(j, STR("name"));
        json_string(j, str_from(ps->list[i].name));
        json_key(j, STR("added"));
        json_bool(j, ps->list[i].is_added);
        json_close(j, '}');
    }
    pthread_rwlock_unlock(&ps->lock);
    json_close(j, ']');
}
