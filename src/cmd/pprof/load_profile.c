/*
 * Sources are fetched in chunks, because thousands of files must not be in
 * memory at the same time: each chunk is merged into the sum before the next
 * one is read.  Symbols are looked up once, in the merged profile.  The order
 * of the steps and the wording of messages are google/pprof's, since scripts
 * read them.
 */
#include "cmd/pprof/load_profile.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/pprof/binaries.h"
#include "cmd/pprof/save.h"
#include "cmd/pprof/symbol_service.h"
#include "cmd/pprof/ui.h"
#include "fetch/fetch.h"
#include "fetch/source_url.h"
#include "fetch/url.h"
#include "profile/check.h"
#include "profile/diff.h"
#include "profile/filter.h"
#include "profile/merge.h"
#include "profile/set_label.h"
#include "symbol/symbolize.h"

/* So many are held in memory at a time before they are merged. */
#define CHUNK 128

/* The sum so far of the sources, or of the bases. */
struct gathered {
    struct profile *sum; /* NULL while there is none */
    size_t wanted, got;
};

/* One loading of a profile. */
struct loader {
    const struct options *options;
    struct arena *arena;
    struct fetch_options fetch;
    struct gathered sources, base;
    VEC(struct symbolize_source) origins; /* servers that know symbols */
    struct buf told;                      /* about symbols */
};

static void say(void *arg, const char *words)
{
    (void)arg;
    ui_say("%s", words);
}

/* "23 s left", redrawn in place; gone when the time is over. */
static void show_progress(void *arg, int seconds_left)
{
    (void)arg;
    if (seconds_left > 0)
        fprintf(stderr, "\r%d s left\033[K", seconds_left);
    else
        fputs("\r\033[K", stderr);
}

static struct fetch_options fetch_options_of(const struct options *o)
{
    return (struct fetch_options){
        .http = {.tls_cert = o->tls_cert,
                 .tls_key = o->tls_key,
                 .tls_ca = o->tls_ca,
                 .tls_server_name = o->tls_server_name,
                 .token_file = o->token_file,
                 .headers = o->headers.texts.v,
                 .n_headers = o->headers.texts.n,
                 .note = say},
        .seconds = o->seconds,
        .timeout = o->timeout,
        .say = say,
        .progress = ui_columns(STDERR_FILENO) ? show_progress : NULL,
    };
}

/* The first mapping is the program: its name and build id can be given. */
static void name_program(struct profile *p, const struct options *o)
{
    if (p->mappings.n == 0) {
        *vec_push(p->arena, &p->mappings) = (struct mapping){.id = 1};
        for (size_t i = 0; i < p->locations.n; i++)
            p->locations.v[i].mapping = 0;
    }
    struct mapping *m = &p->mappings.v[0];
    if (o->executable.n)
        m->file = profile_intern(p, o->executable);
    if (o->buildid.n && m->build_id == 0)
        m->build_id = profile_intern(p, o->buildid);
}

/* Remembers that the server which gave the profile can name its addresses:
 * a mapping without build id and name is called by the URL meanwhile. */
static void note_origin(struct loader *l, struct profile *p,
                        const struct fetched *from)
{
    for (size_t i = 0; i < p->mappings.n; i++) {
        struct mapping *m = &p->mappings.v[i];

        if (m->build_id == 0 && m->file == 0)
            m->file = profile_intern(p, from->url);
        struct str key = profile_str(p, m->build_id ? m->build_id : m->file);
        *vec_push(l->arena, &l->origins) =
            (struct symbolize_source){.key = arena_str(l->arena, key),
                                      .url = from->url,
                                      .start = m->start,
                                      .login = from->login};
    }
}

/* Takes the URLs away again that note_origin gave as names. */
static void forget_origins(struct profile *p)
{
    struct url url;

    for (size_t i = 0; i < p->mappings.n; i++) {
        struct mapping *m = &p->mappings.v[i];

        if (m->build_id == 0 && url_parse(profile_str(p, m->file), &url) &&
            url.scheme.n)
            m->file = 0;
    }
}

/* Adds what was fetched; what failed is for the user to know, not fatal. */
static bool gather(struct loader *l, struct gathered *g,
                   const struct str *names, struct fetched *fetched, size_t n,
                   struct error *err)
{
    struct profile *profiles[CHUNK];
    size_t got = 0;

    for (size_t i = 0; i < n; i++) {
        struct profile *p = fetched[i].profile;

        if (!p) {
            ui_complain("%" STR_FMT ": %s",
                        STR_ARG(source_shown(l->arena, names[i])),
                        fetched[i].error.text);
            continue;
        }
        binaries_locate(p);
        name_program(p, l->options);
        if (fetched[i].url.n)
            note_origin(l, p, &fetched[i]);
        profiles[got++] = p;
    }
    if (got == 0)
        return true;
    struct profile *sum = profile_combine(profiles, got, err);
    if (!sum)
        return false;
    g->sum = g->sum ? profile_combine((struct profile *[]){g->sum, sum}, 2, err)
                    : sum;
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
static bool fetch_everything(struct loader *l, struct error *err)
{
    const struct options *o = l->options;
    bool ok = true;

    l->sources.wanted = o->n_sources;
    l->base.wanted = o->base.n > 0;
    for (size_t i = 0; ok && i < o->n_sources; i += CHUNK) {
        size_t n = chunk_of(i, o->n_sources), n_base = i == 0 && o->base.n;
        struct str *names = arena_new_array(l->arena, struct str, n + n_base);
        struct fetched *fetched =
            arena_new_array(l->arena, struct fetched, n + n_base);

        for (size_t j = 0; j < n; j++)
            names[j] = str_from(o->sources[i + j]);
        if (n_base)
            names[n] = o->base;
        fetch_all(names, n + n_base, &l->fetch, l->arena, fetched);
        ok = gather(l, &l->sources, names, fetched, n, err) ||
             error_wrap(err, "problem fetching source profiles");
        if (ok && !gather(l, &l->base, names + n, fetched + n, n_base, err))
            ok = base_problem(err);
    }
    return ok;
}

static bool check_any(const struct gathered *g, const char *what,
                      struct error *err)
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

/* Takes the base off, which is used up. */
static bool subtract(const struct options *o, struct profile_pair *pair,
                     struct error *err)
{
    pair->profile =
        profile_diff(pair->profile, pair->base,
                     (struct diff_options){.mark = o->mark_base,
                                           .normalize = o->config.normalize},
                     err);
    pair->base = NULL;
    return pair->profile != NULL;
}

/* What was said of the profile need not be said of its base again. */
static void tell(struct loader *l, struct str messages)
{
    struct str rest = messages;

    while (rest.n > 0) {
        ptrdiff_t end = str_find_char(rest, '\n');
        struct str line = str_first(rest, end < 0 ? rest.n : (size_t)end + 1);

        if (!str_contains(buf_str(&l->told), line))
            ui_write(line);
        rest = str_skip(rest, line.n);
    }
    buf_add(&l->told, messages);
}

static void symbolize(struct loader *l, struct profile *p)
{
    struct buf messages = BUF_INIT(BUF_OF_TOOL);
    struct symbolize_request request = {
        .mode = l->options->symbolize,
        .sources = l->origins.v,
        .n_sources = l->origins.n,
        .ask = symbol_service_ask,
        .arg = &l->fetch.http,
    };

    symbolize_profile(p, &request, &messages);
    tell(l, buf_str(&messages));
    buf_release(&messages);
}

static void tidy(const struct options *o, struct profile *p)
{
    struct error ignored; /* a bad drop_frames prunes nothing */

    if (o->all_frames)
        p->drop_frames = p->keep_frames = 0;
    profile_prune(p, &ignored);
    forget_origins(p);
    if (o->add_comment.n)
        *vec_push(p->arena, &p->comments) = profile_intern(p, o->add_comment);
}

bool load_profile_finish(const struct options *o, struct profile *p,
                         struct error *err)
{
    tidy(o, p);
    return profile_check(p, err);
}

/* The last steps with what was read, symbols and all. */
static bool finish(struct loader *l, struct profile *p, struct error *err)
{
    tidy(l->options, p);
    if (l->origins.n && !l->options->no_save)
        save_copy(p);
    return profile_check(p, err);
}

static bool read_both(struct loader *l, struct error *err)
{
    if (!fetch_everything(l, err) || !check_any(&l->sources, "source", err) ||
        !check_any(&l->base, "base", err))
        return false;
    tell_missing(&l->sources, "source");
    tell_missing(&l->base, "base");
    return true;
}

static bool load(struct loader *l, struct profile_pair *pair, struct error *err)
{
    if (pair->base && !subtract(l->options, pair, err))
        return false;
    symbolize(l, pair->profile);
    return finish(l, pair->profile, err);
}

/* Checks that the profiles can be compared, so that messages and the saved copy
 * come now and not with the first request. */
static bool rehearse(struct loader *l, const struct profile_pair *pair,
                     struct error *err)
{
    struct profile_pair copy = {profile_copy(pair->profile),
                                profile_copy(pair->base)};
    bool ok = subtract(l->options, &copy, err) && finish(l, copy.profile, err);

    profile_pair_free(copy);
    return ok;
}

static bool load_apart(struct loader *l, struct profile_pair *pair,
                       struct error *err)
{
    if (!pair->base)
        return load(l, pair, err);
    symbolize(l, pair->profile);
    symbolize(l, pair->base);
    return rehearse(l, pair, err);
}

/* Reads, and does with both what `with` does. */
static bool read_and(const struct options *o, struct profile_pair *out,
                     bool (*with)(struct loader *, struct profile_pair *,
                                  struct error *),
                     struct error *err)
{
    struct loader l = {.options = o,
                       .arena = arena_new(),
                       .fetch = fetch_options_of(o),
                       .told = BUF_INIT(BUF_OF_TOOL)};
    bool ok = read_both(&l, err);
    struct profile_pair pair = {l.sources.sum, l.base.sum};

    assert(!ok || pair.profile); /* some source was read */
    ok = ok && with(&l, &pair, err);
    if (ok)
        *out = pair;
    else
        profile_pair_free(pair);
    buf_release(&l.told);
    arena_free(l.arena);
    return ok;
}

struct profile *load_profile_load(const struct options *o, struct error *err)
{
    struct profile_pair pair;

    return read_and(o, &pair, load, err) ? pair.profile : NULL;
}

bool source_load_apart(const struct options *o, struct profile_pair *out,
                       struct error *err)
{
    return read_and(o, out, load_apart, err);
}

bool source_adopt(const struct options *o, struct profile *p, bool open_files,
                  struct error *err)
{
    struct buf messages = BUF_INIT(BUF_OF_TOOL);
    struct symbolize_request request = {.mode = open_files ? o->symbolize
                                                           : STR("none")};

    if (open_files)
        binaries_locate(p);
    symbolize_profile(p, &request, &messages);
    ui_write(buf_str(&messages));
    buf_release(&messages);
    return profile_check(p, err);
}

bool source_unmark(const struct options *o, struct profile **p,
                   struct error *err)
{
    if (!o->mark_base || o->base_is_diff)
        return true;
    profile_remove_label(*p, BASE_LABEL_KEY);
    /* What differed by the mark alone is the same now. */
    struct profile *merged = profile_merge(p, 1, err);
    if (!merged)
        return false;
    profile_free(*p);
    *p = merged;
    return true;
}

bool source_list_index(const struct options *o, struct buf *out,
                       struct error *err)
{
    struct fetch_options fetch = fetch_options_of(o);
    struct index_entries entries = {0};
    struct arena *a = arena_new();
    bool ok = false;

    err->text[0] = '\0';
    if (o->n_sources == 1)
        ok = fetch_index(str_from(o->sources[0]), &fetch, a, &entries, err);
    for (size_t i = 0; ok && i < entries.list.n; i++)
        buf_addf(out, "%8.*s  %" STR_FMT "\n", STR_ARG(entries.list.v[i].count),
                 STR_ARG(entries.list.v[i].name));
    arena_free(a);
    return ok;
}
