/*
 * From labels to a target.  The job's settings are labels before the rules
 * run, as in Prometheus, so that rules and annotations can change them.
 */
#include "collector/scrape/target.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/query.h"
#include "base/time_text.h"
#include "collector/intake/label_text.h"

#define PARAM STR("__param_")

/* Adds a label unless discovery has set it. */
static void put_default(struct arena *a, struct label_set *s, struct str name,
                        struct str value)
{
    if (label_set_get(s, name).n == 0)
        label_set_put(a, s, name, value);
}

static struct label_set with_defaults(struct arena *a,
                                      const struct scrape_job *job,
                                      const struct label_set *found)
{
    struct label_set s = label_set_copy(a, found);

    put_default(a, &s, STR("job"), job->name);
    put_default(a, &s, STR("__scheme__"), job->scheme);
    put_default(a, &s, STR("__path_prefix__"), job->path_prefix);
    for (size_t i = 0; i < job->n_params; i++)
        put_default(a, &s,
                    str_from(arena_printf(a, "__param_%" STR_FMT,
                                          STR_ARG(job->params[i].name))),
                    job->params[i].value);
    return s;
}

/* --- parts ---------------------------------------------------------------- */

static bool is_address(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.s[i] <= ' ' || s.s[i] == 127 ||
            memchr("/?#@\\\"<>", s.s[i], 9))
            return false;
    return s.n > 0;
}

static struct str host_of(struct str address)
{
    ptrdiff_t colon = str_rfind_char(address, ':');

    if (colon < 0 || str_find_char(address, ']') > colon)
        return address;
    return str_first(address, (size_t)colon);
}

static bool make_url(struct target *t, struct arena *a,
                     const struct label_set *s, struct error *err)
{
    struct str scheme = label_set_get(s, STR("__scheme__"));

    t->address = label_set_get(s, STR("__address__"));
    t->path_prefix = label_set_get(s, STR("__path_prefix__"));
    if (!is_address(t->address))
        return error_set(
            err, "__address__ is \"%" STR_FMT "\": it must be host:port",
            STR_ARG(t->address));
    if (!str_eq(scheme, STR("http")) && !str_eq(scheme, STR("https")))
        return error_set(
            err, "__scheme__ is \"%" STR_FMT "\": it must be http or https",
            STR_ARG(scheme));
    while (str_has_suffix(t->path_prefix, STR("/")))
        t->path_prefix.n--;
    if (t->path_prefix.n > 0 && t->path_prefix.s[0] != '/')
        return error_set(err,
                         "__path_prefix__ is \"%" STR_FMT
                         "\": it must start with a slash",
                         STR_ARG(t->path_prefix));
    t->host = host_of(t->address);
    t->url = str_from(arena_printf(a, "%" STR_FMT "://%" STR_FMT,
                                   STR_ARG(scheme), STR_ARG(t->address)));
    return true;
}

static void make_query(struct target *t, struct arena *a,
                       const struct label_set *s)
{
    struct buf out = arena_buf(a);

    for (size_t i = 0; i < s->n; i++) {
        if (!str_has_prefix(s->v[i].name, PARAM))
            continue;
        if (out.len)
            buf_add_char(&out, '&');
        query_encode(&out, str_skip(s->v[i].name, PARAM.n));
        buf_add_char(&out, '=');
        query_encode(&out, s->v[i].value);
    }
    /* Further values of a parameter are not labels. */
    for (size_t i = 1; i < t->job->n_params; i++) {
        const struct scrape_param *p = &t->job->params[i];

        if (!str_eq(p->name, p[-1].name))
            continue;
        buf_add_char(&out, '&');
        query_encode(&out, p->name);
        buf_add_char(&out, '=');
        query_encode(&out, p->value);
    }
    t->query = buf_str(&out);
}

static bool read_duration(const struct label_set *s, struct str name,
                          int64_t *out, struct error *err)
{
    struct str text = label_set_get(s, name);

    if (text.n == 0)
        return true;
    if (duration_parse(text, out, err) && *out >= SECOND &&
        *out <= 24 * 3600 * SECOND)
        return true;
    return error_set(err,
                     "%" STR_FMT " is \"%" STR_FMT
                     "\": it must be a duration from 1s to 24h",
                     STR_ARG(name), STR_ARG(text));
}

/* --- profiles ------------------------------------------------------------- */

static bool named_profiles(struct target *t, struct arena *a, struct str names,
                           int64_t seconds_ns, struct error *err)
{
    VEC(struct scrape_profile) list = {0};
    struct str name;

    while (str_split(&names, ',', &name)) {
        struct scrape_profile *p;

        name = str_trim(name);
        if (name.n == 0)
            continue;
        p = vec_push(a, &list);
        if (!scrape_kind_named(name, &p->kind))
            return error_set(err,
                             "__profiles__ has \"%" STR_FMT
                             "\", which cannot be a profile",
                             STR_ARG(name));
        p->seconds_ns = p->kind.measures ? seconds_ns : 0;
    }
    t->profiles = list.v;
    t->n_profiles = list.n;
    return true;
}

static bool choose_profiles(struct target *t, struct arena *a,
                            const struct label_set *s, struct error *err)
{
    struct str names = label_set_get(s, STR("__profiles__"));
    int64_t given = 0;

    if (!read_duration(s, STR("__seconds__"), &given, err))
        return false;
    if (names.n)
        return named_profiles(
            t, a, names, given ? given : scrape_default_seconds(t->job), err);
    t->n_profiles = t->job->n_profiles;
    t->profiles = arena_new_array(a, struct scrape_profile, t->n_profiles);
    for (size_t i = 0; i < t->n_profiles; i++) {
        t->profiles[i] = t->job->profiles[i];
        if (given && t->profiles[i].seconds_ns)
            t->profiles[i].seconds_ns = given;
    }
    return true;
}

/* --- labels --------------------------------------------------------------- */

static bool choose_labels(struct target *t, struct arena *a,
                          const struct label_set *s, struct error *err)
{
    struct str service = label_set_get(s, STR("service"));

    if (service.n == 0)
        service = label_set_get(s, STR("__service_name__"));
    if (service.n == 0)
        service = label_set_get(s, STR("job"));
    t->service = service.n ? service : t->job->name;
    for (size_t i = 0; i < s->n; i++)
        if (!str_has_prefix(s->v[i].name, STR("__")) &&
            !str_eq(s->v[i].name, STR("service")))
            label_set_put(a, &t->labels, s->v[i].name, s->v[i].value);
    put_default(a, &t->labels, STR("instance"), t->address);
    t->instance = label_set_get(&t->labels, STR("instance"));
    return t->labels.n <= LABELS_MAX ||
           error_set(err, "it has more than %d labels", LABELS_MAX);
}

static uint64_t mix(uint64_t h, struct str s)
{
    return hash_mix(h ^ str_hash(s));
}

static uint64_t hash_of(const struct target *t)
{
    uint64_t h = mix(str_hash(t->job->name), t->url);

    h = mix(mix(h, t->path_prefix), t->query);
    h = mix(mix(h, t->service), t->tls_secret);
    h = hash_mix(h ^ (uint64_t)t->interval_ns);
    for (size_t i = 0; i < t->labels.n; i++)
        h = mix(mix(h, t->labels.v[i].name), t->labels.v[i].value);
    for (size_t i = 0; i < t->n_profiles; i++) {
        const struct scrape_profile *p = &t->profiles[i];

        h = mix(mix(h, p->kind.name), p->path);
        h = hash_mix(h ^ (uint64_t)p->seconds_ns ^ p->delta);
    }
    return h;
}

enum target_verdict target_make(struct target *out, struct arena *a,
                                const struct scrape_job *job,
                                const struct label_set *found,
                                struct error *err)
{
    struct label_set s = with_defaults(a, job, found);
    struct target t = {.job = job, .interval_ns = job->interval_ns};
    bool keep;

    if (!relabel_apply(&job->relabel, a, &s, &keep, err))
        return TARGET_WRONG;
    if (!keep)
        return TARGET_DROPPED;
    if (!make_url(&t, a, &s, err) ||
        !read_duration(&s, STR("__interval__"), &t.interval_ns, err) ||
        !choose_profiles(&t, a, &s, err) || !choose_labels(&t, a, &s, err))
        return TARGET_WRONG;
    make_query(&t, a, &s);
    t.tls_secret = label_set_get(&s, STR("__tls_secret__"));
    t.hash = hash_of(&t);
    *out = t;
    return TARGET_KEPT;
}

/* --- copies --------------------------------------------------------------- */

/* Texts one after another. */
struct packer {
    char *at;
    size_t n;
};

static struct str pack(struct packer *p, struct str s)
{
    struct str copy = {p->at + p->n, s.n};

    if (s.n)
        memcpy(p->at + p->n, s.s, s.n);
    p->n += s.n;
    return copy;
}

static void pack_texts(struct packer *p, struct target *t,
                       struct label_pair *labels,
                       struct scrape_profile *profiles)
{
    struct str *const texts[] = {&t->url,         &t->address,   &t->host,
                                 &t->path_prefix, &t->query,     &t->service,
                                 &t->instance,    &t->tls_secret};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = pack(p, *texts[i]);
    for (size_t i = 0; i < t->labels.n; i++)
        labels[i] = (struct label_pair){pack(p, labels[i].name),
                                        pack(p, labels[i].value)};
    for (size_t i = 0; i < t->n_profiles; i++) {
        profiles[i].kind.name = pack(p, profiles[i].kind.name);
        profiles[i].kind.type = pack(p, profiles[i].kind.type);
        profiles[i].kind.path = pack(p, profiles[i].kind.path);
        profiles[i].path = pack(p, profiles[i].path);
    }
}

static size_t text_bytes(const struct target *t)
{
    size_t n = t->url.n + t->address.n + t->host.n + t->path_prefix.n +
               t->query.n + t->service.n + t->instance.n + t->tls_secret.n;

    for (size_t i = 0; i < t->labels.n; i++)
        n += t->labels.v[i].name.n + t->labels.v[i].value.n;
    for (size_t i = 0; i < t->n_profiles; i++)
        n += t->profiles[i].kind.name.n + t->profiles[i].kind.type.n +
             t->profiles[i].kind.path.n + t->profiles[i].path.n;
    return n;
}

struct target *target_copy(const struct target *t)
{
    size_t labels = t->labels.n * sizeof(struct label_pair);
    size_t profiles = t->n_profiles * sizeof(struct scrape_profile);
    struct target *copy =
        malloc(sizeof(*copy) + labels + profiles + text_bytes(t));
    struct packer p;

    if (!copy)
        return NULL;
    *copy = *t;
    copy->profiles = (struct scrape_profile *)(copy + 1);
    copy->labels.v = (struct label_pair *)((char *)copy->profiles + profiles);
    copy->labels.cap = t->labels.n;
    if (profiles)
        memcpy(copy->profiles, t->profiles, profiles);
    if (labels)
        memcpy(copy->labels.v, t->labels.v, labels);
    p = (struct packer){.at = (char *)copy->labels.v + labels};
    pack_texts(&p, copy, copy->labels.v, copy->profiles);
    return copy;
}
