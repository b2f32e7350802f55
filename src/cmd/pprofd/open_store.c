/*
 * From settings to the options of a store.  Here and nowhere else, so that
 * `serve` and the commands that work on a store without a server use the same
 * limits.
 */
#include "cmd/pprofd/open_store.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "store/clickhouse/clickhouse.h"
#include "store/sqlite/sqlite.h"

/* Sums that no rule keeps are not made. */
static unsigned levels_of(const struct settings *s)
{
    unsigned levels = 0;

    for (size_t i = 0; i < s->n_retention; i++)
        for (int level = STORE_MINUTE; level < STORE_LEVELS; level++)
            if (s->retention[i].max_age_ns[level] > 0)
                levels |= 1u << level;
    return levels;
}

static struct store_options options_of(const struct settings *s,
                                       struct arena *a)
{
    struct store_options o = store_default_options;

    o.dir = arena_cstr(a, s->data);
    o.body_bytes = s->max_body;
    o.inflated_bytes = s->max_inflated;
    o.queue_profiles = s->max_queue;
    o.max_samples = s->max_samples;
    o.max_depth = s->max_stack_depth;
    o.max_label_values = (uint32_t)s->max_label_values;
    o.head_bytes = s->memory;
    o.max_disk_bytes = s->max_disk;
    o.retention = s->retention;
    o.n_retention = s->n_retention;
    o.levels = levels_of(s);
    return o;
}

/* --- ClickHouse ----------------------------------------------------------- */

static void warn(void *arg, const char *words)
{
    (void)arg;
    log_warn("store", log_text("message", words));
}

static bool read_password(const struct settings *s, struct arena *a,
                          struct str *out, struct error *err)
{
    struct buf text = arena_buf(a);
    const char *path;

    *out = str_from(getenv("PPROFD_STORE_PASSWORD"));
    if (s->store_password_file.n == 0)
        return true;
    path = arena_cstr(a, s->store_password_file);
    text.max = 4096;
    secret_file_warn(path, warn, NULL);
    if (!file_read(path, &text, err))
        return false;
    *out = buf_str(&text);
    while (out->n && (out->s[out->n - 1] == '\n' || out->s[out->n - 1] == '\r'))
        out->n--;
    return true;
}

struct clickhouse_options clickhouse_options_of(const struct settings *s,
                                                struct arena *a)
{
    struct clickhouse_options o = clickhouse_default_options;

    o.url = s->store;
    o.ca_file = s->store_ca;
    o.cert_file = s->store_cert;
    o.key_file = s->store_key;
    o.cluster = s->cluster;
    o.wal_dir = s->wal.n ? arena_cstr(a, s->wal) : NULL;
    o.wal_bytes = s->wal_max;
    o.batch_wait_ns = s->batch_wait_ns;
    o.batch_profiles = (size_t)s->batch_profiles;
    o.insert_timeout_ns = s->store_timeout_ns;
    return o;
}

static struct store *open_clickhouse(const struct settings *s, struct arena *a,
                                     const struct store_options *intake,
                                     bool must_exist, struct error *err)
{
    struct clickhouse_options o = clickhouse_options_of(s, a);

    o.store = intake;
    o.must_exist = must_exist;
    if (!read_password(s, a, &o.password, err))
        return NULL;
    return clickhouse_store_open(&o, err);
}

static struct store *open_either(const struct settings *s, struct arena *a,
                                 bool must_exist, struct error *err)
{
    struct store_options o = options_of(s, a);

    if (s->store.n)
        return open_clickhouse(s, a, &o, must_exist, err);
    return !must_exist || find_store(s, a, err) ? sqlite_store_open(&o, err)
                                                : NULL;
}

struct store *open_store(const struct settings *s, struct arena *a,
                         struct error *err)
{
    return open_either(s, a, false, err);
}

bool change_retention(struct store *store, const struct settings *s,
                      struct error *err)
{
    return s->store.n
               ? clickhouse_store_set_retention(
                     store, s->retention, s->n_retention, s->max_disk, err)
               : sqlite_store_set_retention(store, s->retention, s->n_retention,
                                            s->max_disk, err);
}

bool find_store(const struct settings *s, struct arena *a, struct error *err)
{
    const char *head =
        arena_printf(a, "%" STR_FMT "/head.db", STR_ARG(s->data));

    if (access(head, F_OK) == 0)
        return true;
    return error_set(err,
                     "there is no store in %" STR_FMT
                     "; name its directory with --data",
                     STR_ARG(s->data));
}

/* The write-ahead log belongs to the server, which may be running. */
static struct settings kept_settings(const struct settings *s)
{
    struct settings kept = *s;

    kept.n_retention = 0;
    kept.max_disk = 0;
    kept.wal = STR("");
    return kept;
}

struct store *open_kept_store(const struct settings *s, struct arena *a,
                              struct error *err)
{
    struct settings kept = kept_settings(s);

    return open_either(&kept, a, false, err);
}

struct store *open_existing_store(const struct settings *s, struct arena *a,
                                  struct error *err)
{
    struct settings kept = kept_settings(s);

    return open_either(&kept, a, true, err);
}
