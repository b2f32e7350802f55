#ifndef TESTS_UNIT_STORE_SUPPORT_H
#define TESTS_UNIT_STORE_SUPPORT_H

/*
 * For tests of the embedded store: a directory that goes away, puts that
 * wait, and two ways to compare profiles.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/encode.h"
#include "profile/merge.h"
#include "profile/read.h"
#include "store/sqlite/sqlite.h"

static char store_dir[4096];

/* A new empty place; call store_clean() at the end. */
static inline const char *store_place(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(store_dir, sizeof(store_dir), "%s/pprof-store-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(store_dir))
        abort();
    return store_dir;
}

static inline void store_clean(void)
{
    DIR *d = opendir(store_dir);
    struct dirent *e;
    char path[8192];

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s", store_dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(store_dir);
}

static inline struct store_options store_test_options(void)
{
    struct store_options o = store_default_options;

    o.dir = store_dir;
    o.commit_wait_ns = 100000;
    o.no_background = true;
    return o;
}

static inline struct store *store_reopen(const struct store_options *o)
{
    struct store_options defaults = store_test_options();
    struct error err;
    struct store *s = sqlite_store_open(o ? o : &defaults, &err);

    if (!s)
        printf("# open: %s\n", err.text), fflush(stdout);
    return s;
}

/*
 * Puts.
 */
struct put_result {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    enum store_status status;
    struct store_receipt receipt;
    struct error err;
};

static inline void put_is_done(void *arg, enum store_status status,
                               const struct store_receipt *receipt,
                               const struct error *err)
{
    struct put_result *r = arg;

    pthread_mutex_lock(&r->lock);
    r->done = true;
    r->status = status;
    r->receipt = *receipt;
    if (err)
        r->err = *err;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* Puts and waits until it is on disk. */
static inline enum store_status put_wait(struct store *s,
                                         const struct store_put *put,
                                         struct store_receipt *receipt,
                                         struct error *err)
{
    struct put_result r = {.lock = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER};
    enum store_status status = store_put(s, put, put_is_done, &r, err);

    if (status != STORE_OK)
        return status;
    pthread_mutex_lock(&r.lock);
    while (!r.done)
        pthread_cond_wait(&r.changed, &r.lock);
    pthread_mutex_unlock(&r.lock);
    if (receipt)
        *receipt = r.receipt;
    if (r.status != STORE_OK)
        *err = r.err;
    return r.status;
}

static inline struct store_put put_of(struct str bytes, const char *service,
                                      const char *type)
{
    return (struct store_put){.service = str_from(service),
                              .type = str_from(type),
                              .bytes = bytes,
                              .allow_empty = true};
}

/* Puts a profile of the model. */
static inline bool put_profile(struct store *s, const struct profile *p,
                               const char *service, const char *type,
                               int64_t created_ns, struct store_id *id)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct store_receipt receipt;
    struct store_put put;
    struct error err;
    bool ok;

    profile_encode(p, &bytes);
    put = put_of(buf_str(&bytes), service, type);
    put.created_at_ns = created_ns;
    put.created_at_wins = created_ns != 0;
    ok = put_wait(s, &put, &receipt, &err) == STORE_OK;
    if (!ok)
        printf("# put: %s\n", err.text);
    else if (id)
        *id = receipt.id;
    buf_release(&bytes);
    return ok;
}

static inline struct store_query everything(void)
{
    return (struct store_query){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
}

/*
 * Profiles as text, so that they can be compared whatever their numbering.
 */
static inline void write_str(struct buf *out, const struct profile *p,
                             string_id id)
{
    buf_addf(out, "%" STR_FMT "|", STR_ARG(profile_str(p, id)));
}

static inline void write_mapping(struct buf *out, const struct profile *p,
                                 const struct mapping *m)
{
    buf_addf(out, "map %llx-%llx@%llx %d%d%d%d ", (unsigned long long)m->start,
             (unsigned long long)m->limit, (unsigned long long)m->offset,
             m->has_functions, m->has_filenames, m->has_line_numbers,
             m->has_inline_frames);
    write_str(out, p, m->file);
    write_str(out, p, m->build_id);
}

static inline void write_function(struct buf *out, const struct profile *p,
                                  const struct function *f)
{
    write_str(out, p, f->name);
    write_str(out, p, f->system_name);
    write_str(out, p, f->filename);
    buf_addf(out, "%lld", (long long)f->start_line);
}

static inline void write_location(struct buf *out, const struct profile *p,
                                  uint32_t i, bool exact)
{
    const struct location *l = &p->locations.v[i];

    if (exact)
        buf_addf(out, "[%llx %d %d", (unsigned long long)l->address,
                 (int)l->mapping, l->is_folded);
    else
        buf_addf(out, "[");
    for (uint32_t n = 0; n < l->n_lines; n++) {
        const struct line *line = &p->lines.v[l->line_start + n];

        buf_addf(out, " ");
        write_function(out, p, &p->functions.v[line->function]);
        buf_addf(out, ":%lld", (long long)line->line);
        if (exact)
            buf_addf(out, ":%lld", (long long)line->column);
    }
    if (!exact && !l->n_lines)
        buf_addf(
            out, "%llx",
            (unsigned long long)(l->mapping == NO_INDEX
                                     ? l->address
                                     : l->address -
                                           p->mappings.v[l->mapping].start));
    buf_addf(out, "]");
}

static inline void write_sample_key(struct buf *out, const struct profile *p,
                                    size_t i, bool exact)
{
    for (size_t f = p->loc_start[i]; f < p->loc_start[i + 1]; f++)
        write_location(out, p, p->stack[f], exact);
    for (size_t l = p->label_start[i]; l < p->label_start[i + 1]; l++) {
        const struct label *label = &p->labels[l];

        buf_addf(out, " {%d ", label->kind);
        write_str(out, p, label->key);
        write_str(out, p, label->str);
        buf_addf(out, "%lld}", (long long)label->num);
    }
}

static inline int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines of a text and drops equal ones. */
static inline void sort_lines(struct buf *text, size_t from)
{
    struct arena *a = arena_new();
    struct str rest = arena_str(a, str_skip(buf_str(text), from)), line;
    VEC(char *) lines = {0};

    while (str_next_line(&rest, &line))
        *vec_push(a, &lines) = arena_cstr(a, line);
    if (lines.n)
        qsort(lines.v, lines.n, sizeof(*lines.v), compare_lines);
    text->len = from;
    for (size_t i = 0; i < lines.n; i++)
        if (i == 0 || strcmp(lines.v[i], lines.v[i - 1]) != 0)
            buf_addf(text, "%s\n", lines.v[i]);
    arena_free(a);
}

static inline void write_header(struct buf *out, const struct profile *p)
{
    for (size_t i = 0; i < p->types.n; i++) {
        write_str(out, p, p->types.v[i].type);
        write_str(out, p, p->types.v[i].unit);
    }
    write_str(out, p, p->period_type.type);
    write_str(out, p, p->period_type.unit);
    write_str(out, p, p->drop_frames);
    write_str(out, p, p->keep_frames);
    write_str(out, p, p->default_type);
    write_str(out, p, p->doc_url);
    buf_addf(out, "%lld %lld %lld\n", (long long)p->time_ns,
             (long long)p->duration_ns, (long long)p->period);
}

/* Everything but the ids, samples in their order. */
static inline void write_exactly(struct buf *out, const struct profile *p)
{
    size_t from;

    write_header(out, p);
    for (size_t i = 0; i < p->comments.n; i++)
        write_str(out, p, p->comments.v[i]);
    buf_addf(out, "\n");
    for (size_t i = 0; i < p->mappings.n; i++) {
        write_mapping(out, p, &p->mappings.v[i]);
        buf_addf(out, "\n");
    }
    for (size_t i = 0; i < p->n_samples; i++) {
        write_sample_key(out, p, i, true);
        for (size_t t = 0; t < p->types.n; t++)
            buf_addf(out, " %lld", (long long)p->values[i * p->types.n + t]);
        buf_addf(out, "\n");
    }
    from = out->len;
    for (uint32_t i = 0; i < p->locations.n; i++) {
        write_location(out, p, i, true);
        buf_addf(out, "\n");
    }
    for (size_t i = 0; i < p->functions.n; i++) {
        buf_addf(out, "function ");
        write_function(out, p, &p->functions.v[i]);
        buf_addf(out, "\n");
    }
    sort_lines(out, from);
}

struct sum_line {
    char *key;
    const int64_t *values;
};

static inline int compare_sums(const void *a, const void *b)
{
    return strcmp(((const struct sum_line *)a)->key,
                  ((const struct sum_line *)b)->key);
}

/* Sums by stack of names and labels, sorted; no addresses. */
static inline void write_sums(struct buf *out, const struct profile *p)
{
    struct arena *a = arena_new();
    struct sum_line *lines = arena_new_array(a, struct sum_line, p->n_samples);
    size_t types = p->types.n;
    int64_t *sums = arena_new_array(a, int64_t, types);
    struct buf key = BUF_INIT(BUF_NO_LIMIT);

    write_header(out, p);
    for (size_t i = 0; i < p->n_samples; i++) {
        buf_clear(&key);
        write_sample_key(&key, p, i, false);
        lines[i] = (struct sum_line){arena_cstr(a, buf_str(&key)),
                                     p->values + i * types};
    }
    buf_release(&key);
    if (p->n_samples)
        qsort(lines, p->n_samples, sizeof(*lines), compare_sums);
    for (size_t i = 0; i < p->n_samples; i++) {
        bool last = i + 1 == p->n_samples ||
                    strcmp(lines[i].key, lines[i + 1].key) != 0;
        int64_t any = 0;

        for (size_t t = 0; t < types; t++)
            any |= sums[t] += lines[i].values[t];
        if (!last)
            continue;
        if (any) {
            buf_addf(out, "%s", lines[i].key);
            for (size_t t = 0; t < types; t++)
                buf_addf(out, " %lld", (long long)sums[t]);
            buf_addf(out, "\n");
        }
        memset(sums, 0, types * sizeof(*sums));
    }
    arena_free(a);
}

static inline void show_difference(struct str a, struct str b)
{
    struct str x, y;

    while (str_next_line(&a, &x) && str_next_line(&b, &y))
        if (!str_eq(x, y)) {
            printf("# got  %" STR_FMT "\n", STR_ARG(str_first(x, 300)));
            printf("# want %" STR_FMT "\n", STR_ARG(str_first(y, 300)));
            return;
        }
    printf("# one is longer: %zu and %zu more bytes\n", a.n, b.n);
}

static inline bool
same_text(const struct profile *got, const struct profile *want,
          void (*write)(struct buf *, const struct profile *))
{
    struct buf a = BUF_INIT(BUF_NO_LIMIT), b = BUF_INIT(BUF_NO_LIMIT);
    bool same;

    write(&a, got);
    write(&b, want);
    same = str_eq(buf_str(&a), buf_str(&b));
    if (!same)
        show_difference(buf_str(&a), buf_str(&b));
    buf_release(&a);
    buf_release(&b);
    return same;
}

static inline bool profiles_equal(const struct profile *got,
                                  const struct profile *want)
{
    return same_text(got, want, write_exactly);
}

static inline bool sums_equal(const struct profile *got,
                              const struct profile *want)
{
    return same_text(got, want, write_sums);
}

/* Is the stored profile equal to p? */
static inline bool stored_equals(struct store *s, const struct store_id *id,
                                 const struct profile *p)
{
    struct profile *got = NULL;
    struct error err;
    bool same;

    if (store_get(s, id, &got, &err) != STORE_OK) {
        printf("# get: %s\n", err.text);
        return false;
    }
    same = profiles_equal(got, p);
    profile_free(got);
    return same;
}

/*
 * Profiles that lie beside the repo.
 */
static inline const char *shared_place(void)
{
    static char path[4096];
    const char *places[] = {getenv("PPROF_SHARED"), "../shared",
                            "../../shared"};

    for (size_t i = 0; i < 3; i++) {
        if (!places[i])
            continue;
        snprintf(path, sizeof(path), "%s", places[i]);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

#endif
