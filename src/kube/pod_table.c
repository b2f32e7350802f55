/*
 * A hash table with chains: entries come and go, which base/map.h cannot do.
 * An entry is one allocation with the pod's record behind it.
 */
#include "kube/pod_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory_scope.h"
#include "kube/pod_record.h"

#define FIRST_BUCKETS    64
#define MAX_RECORD_BYTES ((size_t)1 << 20)

struct pod_entry {
    struct pod_entry *next;
    uint64_t hash, mark;
    unsigned source;
    uint32_t namespace_len, name_len, record_len;
    char bytes[]; /* namespace, name, record */
};

static struct str entry_record(const struct pod_entry *e)
{
    return str_of(e->bytes + e->namespace_len + e->name_len, e->record_len);
}

static size_t entry_bytes(const struct pod_entry *e)
{
    return sizeof(*e) + e->namespace_len + e->name_len + e->record_len;
}

bool pod_table_init(struct pod_table *t,
                    const struct kube_target_options *options, size_t max_bytes,
                    struct error *err)
{
    *t = (struct pod_table){
        .options = *options,
        .max_bytes = max_bytes,
        .n_buckets = FIRST_BUCKETS,
        .seed = hash_seed(t),
        .version = 1,
    };
    t->buckets = calloc(FIRST_BUCKETS, sizeof(struct pod_entry *));
    if (!t->buckets)
        return error_set(err, "out of memory");
    pthread_mutex_init(&t->lock, NULL);
    return true;
}

void pod_table_release(struct pod_table *t)
{
    if (!t->buckets)
        return;
    for (size_t i = 0; i < t->n_buckets; i++)
        while (t->buckets[i]) {
            struct pod_entry *e = t->buckets[i];

            t->buckets[i] = e->next;
            free(e);
        }
    free(t->buckets);
    t->buckets = NULL;
    pthread_mutex_destroy(&t->lock);
}

static uint64_t hash_key(const struct pod_table *t, struct str namespace_name,
                         struct str name)
{
    return hash_mix(str_hash_seeded(namespace_name, t->seed) ^
                    str_hash_seeded(name, ~t->seed));
}

/* Where the entry hangs, or the NULL at the end of its chain. */
static struct pod_entry **find(struct pod_table *t, uint64_t hash,
                               struct str namespace_name, struct str name)
{
    struct pod_entry **at = &t->buckets[hash & (t->n_buckets - 1)];

    for (; *at; at = &(*at)->next) {
        const struct pod_entry *e = *at;

        if (e->hash == hash &&
            str_eq(str_of(e->bytes, e->namespace_len), namespace_name) &&
            str_eq(str_of(e->bytes + e->namespace_len, e->name_len), name))
            break;
    }
    return at;
}

/* Twice the buckets; without memory for them the chains get longer. */
static void grow(struct pod_table *t)
{
    size_t n = t->n_buckets * 2;
    struct pod_entry **buckets = calloc(n, sizeof(*buckets));

    if (!buckets)
        return;
    for (size_t i = 0; i < t->n_buckets; i++)
        while (t->buckets[i]) {
            struct pod_entry *e = t->buckets[i];
            struct pod_entry **at = &buckets[e->hash & (n - 1)];

            t->buckets[i] = e->next;
            e->next = *at;
            *at = e;
        }
    free(t->buckets);
    t->buckets = buckets;
    t->n_buckets = n;
}

static void drop(struct pod_table *t, struct pod_entry **at)
{
    struct pod_entry *e = *at;

    *at = e->next;
    t->n--;
    t->bytes -= entry_bytes(e);
    t->version++;
    free(e);
}

/* Returns where the next one goes.  An empty text may have no address. */
static char *put_text(char *at, struct str text)
{
    if (text.n)
        memcpy(at, text.s, text.n);
    return at + text.n;
}

static struct pod_entry *make_entry(const struct kube_pod *pod, uint64_t hash,
                                    struct str record)
{
    struct pod_entry *e =
        malloc(sizeof(*e) + pod->namespace_name.n + pod->name.n + record.n);
    char *at;

    if (!e)
        return NULL;
    *e = (struct pod_entry){
        .hash = hash,
        .namespace_len = (uint32_t)pod->namespace_name.n,
        .name_len = (uint32_t)pod->name.n,
        .record_len = (uint32_t)record.n,
    };
    at = put_text(e->bytes, pod->namespace_name);
    at = put_text(at, pod->name);
    put_text(at, record);
    return e;
}

static bool add(struct pod_table *t, const struct kube_pod *pod, uint64_t hash,
                struct str record, unsigned source, uint64_t mark,
                struct error *err)
{
    struct pod_entry *e = make_entry(pod, hash, record);
    struct pod_entry **at;

    if (!e)
        return error_set(err, "out of memory");
    if (t->bytes + entry_bytes(e) > t->max_bytes) {
        free(e);
        return error_set(err,
                         "the pods need more than %zu bytes: select fewer "
                         "with namespaces or selectors, or raise the limit",
                         t->max_bytes);
    }
    if (t->n >= t->n_buckets)
        grow(t);
    at = &t->buckets[hash & (t->n_buckets - 1)];
    e->source = source;
    e->mark = mark;
    e->next = *at;
    *at = e;
    t->n++;
    t->bytes += entry_bytes(e);
    t->version++;
    return true;
}

static bool put_record(struct pod_table *t, const struct kube_pod *pod,
                       struct str record, unsigned source, uint64_t mark,
                       struct error *err)
{
    uint64_t hash = hash_key(t, pod->namespace_name, pod->name);
    struct pod_entry **at;
    bool ok = true;

    pthread_mutex_lock(&t->lock);
    at = find(t, hash, pod->namespace_name, pod->name);
    if (*at && record.n && str_eq(entry_record(*at), record)) {
        (*at)->source = source;
        (*at)->mark = mark;
    } else {
        if (*at)
            drop(t, at);
        ok = record.n == 0 || add(t, pod, hash, record, source, mark, err);
    }
    pthread_mutex_unlock(&t->lock);
    return ok;
}

bool pod_table_put(struct pod_table *t, const struct kube_pod *pod,
                   unsigned source, uint64_t mark, struct error *err)
{
    struct buf record = BUF_INIT(MAX_RECORD_BYTES);
    bool ok = true;

    if (kube_pod_is_wanted(pod, &t->options))
        pod_record_write(&record, pod);
    if (!buf_ok(&record))
        ok = error_set(err, "pod %" STR_FMT "/%" STR_FMT " is too large",
                       STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    ok = ok && put_record(t, pod, buf_str(&record), source, mark, err);
    buf_release(&record);
    return ok;
}

void pod_table_remove(struct pod_table *t, struct str namespace_name,
                      struct str name)
{
    struct pod_entry **at;

    pthread_mutex_lock(&t->lock);
    at = find(t, hash_key(t, namespace_name, name), namespace_name, name);
    if (*at)
        drop(t, at);
    pthread_mutex_unlock(&t->lock);
}

void pod_table_sweep(struct pod_table *t, unsigned source, uint64_t mark)
{
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->n_buckets; i++) {
        struct pod_entry **at = &t->buckets[i];

        while (*at)
            if ((*at)->source == source && (*at)->mark != mark)
                drop(t, at);
            else
                at = &(*at)->next;
    }
    pthread_mutex_unlock(&t->lock);
}

uint64_t pod_table_version(struct pod_table *t)
{
    uint64_t version;

    pthread_mutex_lock(&t->lock);
    version = t->version;
    pthread_mutex_unlock(&t->lock);
    return version;
}

void pod_table_touch(struct pod_table *t)
{
    pthread_mutex_lock(&t->lock);
    t->version++;
    pthread_mutex_unlock(&t->lock);
}

size_t pod_table_count(struct pod_table *t)
{
    size_t n;

    pthread_mutex_lock(&t->lock);
    n = t->n;
    pthread_mutex_unlock(&t->lock);
    return n;
}

/* --- reading all ---------------------------------------------------------- */

struct reading {
    struct pod_table *table;
    struct arena *a;
    struct kube_targets targets;
    size_t n_bad;
    struct error *bad;
};

/* A copy of the record first: the targets' texts are views of it. */
static void read_entry(struct reading *r, const struct pod_entry *e)
{
    struct kube_pod pod;
    struct error err;

    if (!pod_record_read(r->a, arena_str(r->a, entry_record(e)), &pod))
        return; /* cannot be: we wrote it */
    if (kube_pod_targets(r->a, &pod, &r->table->options, &r->targets, &err))
        return;
    if (r->n_bad++ == 0)
        *r->bad = err;
}

static void read_all(void *arg)
{
    struct reading *r = arg;
    const struct pod_table *t = r->table;

    for (size_t i = 0; i < t->n_buckets; i++)
        for (struct pod_entry *e = t->buckets[i]; e; e = e->next)
            read_entry(r, e);
}

bool pod_table_targets(struct pod_table *t, struct arena *a,
                       struct kube_targets *out, size_t *n_bad,
                       struct error *bad, struct error *err)
{
    struct reading r = {.table = t, .a = a, .bad = bad};
    bool ok;

    /* In a scope of its own: it must come back here with the lock held. */
    pthread_mutex_lock(&t->lock);
    ok = memory_scope_run(MEMORY_UNLIMITED, read_all, &r, err);
    pthread_mutex_unlock(&t->lock);
    if (!ok)
        return false;
    *out = r.targets;
    *n_bad = r.n_bad;
    return true;
}
