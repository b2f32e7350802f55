#include "cmd/pprof/source.h"

#include "cmd/pprof/ui.h"
#include "fetch/fetch.h"
#include "profile/check.h"
#include "profile/filter.h"
#include "profile/merge.h"

/* So many are held in memory at a time before they are merged. */
#define CHUNK 128

/* The sum so far of the sources, or of the bases. */
struct gathered {
    struct profile *sum; /* NULL while there is none */
    size_t wanted, got;
};

static void say(void *arg, const char *words)
{
    (void)arg;
    ui_say("%s", words);
}

static struct fetch_options fetch_options_of(const struct options *o)
{
    return (struct fetch_options){
        .http = {.tls_cert = o->tls_cert,
                 .tls_key = o->tls_key,
                 .tls_ca = o->tls_ca,
                 .token_file = o->token_file,
                 .headers = o->headers.texts.v,
                 .n_headers = o->headers.texts.n},
        .seconds = o->seconds,
        .timeout = o->timeout,
        .say = say,
    };
}

/* The first mapping is the program: its name and build id can be given. */
static void name_program(struct profile *p, const struct options *o)
{
    if (p->mappings.n == 0)
        *vec_push(p->arena, &p->mappings) = (struct mapping){.id = 1};
    struct mapping *m = &p->mappings.v[0];
    if (o->executable.n)
        m->file = profile_intern(p, o->executable);
    if (o->buildid.n && m->build_id == 0)
        m->build_id = profile_intern(p, o->buildid);
}

/* One profile out of several, which it frees. */
static struct profile *combine(struct profile **profiles, size_t n,
                               struct error *err)
{
    struct profile *sum = NULL;

    if (profile_make_compatible(profiles, n, err))
        sum = n == 1 ? profiles[0] : profile_merge(profiles, n, err);
    for (size_t i = 0; i < n; i++)
        if (profiles[i] != sum)
            profile_free(profiles[i]);
    return sum;
}

/* Adds what was fetched; complaints are for the user, not fatal. */
static bool gather(struct gathered *g, const struct str *names,
                   struct fetched *fetched, size_t n, const struct options *o,
                   struct error *err)
{
    struct profile *profiles[CHUNK];
    size_t got = 0;

    for (size_t i = 0; i < n; i++) {
        if (!fetched[i].profile) {
            ui_complain("%" STR_FMT ": %s", STR_ARG(names[i]),
                        fetched[i].error.text);
            continue;
        }
        name_program(fetched[i].profile, o);
        profiles[got++] = fetched[i].profile;
    }
    if (got == 0)
        return true;
    struct profile *sum = combine(profiles, got, err);
    if (!sum)
        return false;
    g->sum = g->sum ? combine((struct profile *[]){g->sum, sum}, 2, err) : sum;
    g->got += got;
    return g->sum != NULL;
}

static size_t chunk_of(size_t start, size_t n)
{
    return start >= n ? 0 : n - start < CHUNK ? n - start : CHUNK;
}

static bool base_problem(struct error *err)
{
    struct error why = *err;

    /* The comma is the original's. */
    return error_set(err, "problem fetching base profiles: %s,", why.text);
}

/* Sources and base are fetched at the same time: both may be timed. */
static bool fetch_everything(const struct options *o, struct gathered *sources,
                             struct gathered *base, struct error *err)
{
    struct arena *a = arena_new();
    struct fetch_options options = fetch_options_of(o);
    bool ok = true;

    sources->wanted = o->n_sources;
    base->wanted = o->base.n > 0;
    for (size_t i = 0; ok && i < o->n_sources; i += CHUNK) {
        size_t n = chunk_of(i, o->n_sources), n_base = i == 0 && o->base.n;
        struct str *names = arena_new_array(a, struct str, n + n_base);
        struct fetched *fetched =
            arena_new_array(a, struct fetched, n + n_base);

        for (size_t j = 0; j < n; j++)
            names[j] = str_from(o->sources[i + j]);
        if (n_base)
            names[n] = o->base;
        fetch_all(names, n + n_base, &options, a, fetched);
        ok = gather(sources, names, fetched, n, o, err) ||
             error_wrap(err, "problem fetching source profiles");
        if (ok && !gather(base, names + n, fetched + n, n_base, o, err))
            ok = base_problem(err);
    }
    arena_free(a);
    return ok;
}

static bool count(const struct gathered *g, const char *what, struct error *err)
{
    if (g->wanted && g->got == 0)
        return error_set(err, "failed to fetch any %s profiles", what);
    return true;
}

static void tell_missing(const struct gathered *g, const char *what)
{
    if (g->got != g->wanted)
        ui_complain("Fetched %zu %s profiles out of %zu", g->got, what,
                    g->wanted);
}

/* source - base; both are used up. */
static struct profile *subtract(struct profile *p, struct profile *base,
                                const struct options *o, struct error *err)
{
    if (o->base_is_diff)
        profile_set_label(base, STR("pprof::base"), STR("true"));
    if (o->config.normalize && !profile_normalize(p, base, err)) {
        profile_free(p);
        profile_free(base);
        return NULL;
    }
    profile_scale(base, -1);
    return combine((struct profile *[]){p, base}, 2, err);
}

static bool finish(struct profile *p, const struct options *o,
                   struct error *err)
{
    struct error ignored; /* a bad drop_frames prunes nothing */

    if (o->all_frames)
        p->drop_frames = p->keep_frames = 0;
    profile_prune(p, &ignored);
    if (o->add_comment.n)
        *vec_push(p->arena, &p->comments) = profile_intern(p, o->add_comment);
    return profile_check(p, err);
}

struct profile *source_load(const struct options *o, struct error *err)
{
    struct gathered sources = {0}, base = {0};
    struct profile *p = NULL;

    if (!fetch_everything(o, &sources, &base, err) ||
        !count(&sources, "source", err) || !count(&base, "base", err))
        goto fail;
    tell_missing(&sources, "source");
    tell_missing(&base, "base");
    p = sources.sum;
    sources.sum = NULL;
    if (base.sum) {
        p = subtract(p, base.sum, o, err);
        base.sum = NULL;
        if (!p)
            goto fail;
    }
    if (finish(p, o, err))
        return p;
fail:
    profile_free(p);
    profile_free(sources.sum);
    profile_free(base.sum);
    return NULL;
}
