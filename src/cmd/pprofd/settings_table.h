#ifndef CMD_PPROFD_SETTINGS_TABLE_H
#define CMD_PPROFD_SETTINGS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "store/options.h"

/*
 * The settings of pprofd: defaults, then the configuration file, then flags.
 *
 * One table (settings_table) describes every setting: its key in the file, its
 * flag, its default and its meaning.  The reader of the file, the command line
 * and `pprofd config` use it.
 */
struct settings {
    /* listen */
    struct str address; /* "": 127.0.0.1:10100, or :10100 with authentication */
    bool insecure;
    struct str tls_cert, tls_key, client_ca, client_allow, token_file, hosts;
    bool kubernetes;
    uint64_t max_connections, workers;
    uint64_t request_memory;
    int64_t exit_timeout_ns;

    /* intake */
    uint64_t max_body, max_inflated, max_queue;
    uint64_t max_samples, max_stack_depth, max_label_values;

    /* storage */
    struct str data;
    struct str store, store_password_file, store_ca, store_cert, store_key;
    struct str cluster, wal;
    uint64_t wal_max, batch_profiles;
    int64_t batch_wait_ns, store_timeout_ns;
    struct str s3_endpoint; /* "": $AWS_ENDPOINT_URL, or Amazon */
    struct str archive;     /* s3://BUCKET/PREFIX; "": none */
    uint64_t archive_spool, archive_memory, archive_connections;
    struct str ignored_flags; /* an ignored flag of profefe was given */
    uint64_t memory, max_disk;

    /* retention: the rule for what no rule of the file names */
    int64_t keep_raw_ns, keep_minute_ns, keep_hour_ns, keep_day_ns;

    /* scrape */
    bool scrape_self;
    uint64_t scrape_transfers, scrape_measuring, scrape_per_host;
    uint64_t scrape_memory, scrape_targets;

    /* query */
    uint64_t query_profiles, query_bytes, query_memory, page_overview;
    int64_t query_cpu_ns, page_wait_ns;

    /* log */
    struct str log_level;

    /* What the table cannot describe. */
    struct store_retention *retention; /* the rules of the file, then the
                                          default */
    size_t n_retention;
};

enum setting_kind {
    SETTING_TEXT,     /* struct str */
    SETTING_BOOL,     /* bool */
    SETTING_COUNT,    /* uint64_t */
    SETTING_BYTES,    /* uint64_t */
    SETTING_DURATION, /* int64_t, nanoseconds; 0: without end */
};

struct setting {
    const char *section, *key; /* in the file: "listen", "address" */
    const char *flag;          /* NULL: the file alone */
    enum setting_kind kind;
    size_t offset; /* in struct settings */
    const char *fallback;
    const char *meaning;
};

extern const struct setting settings_table[];
extern const size_t settings_n;

/* Reads one setting from text. */
bool setting_set(struct settings *s, const struct setting *which,
                 struct str text, struct error *err);

#endif
