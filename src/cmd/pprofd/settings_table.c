/*
 * All settings of pprofd in the order in which `pprofd config` prints them,
 * and how a value of each kind is read.
 */
#include "cmd/pprofd/settings_table.h"

#include "base/goparse.h"
#include "base/size_text.h"
#include "base/time_text.h"

#define AT(member) offsetof(struct settings, member)

const struct setting settings_table[] = {
    {"listen", "address", "addr", SETTING_TEXT, AT(address), "",
     "host:port, :port or unix:/path; default 127.0.0.1:10100, or :10100 with "
     "authentication or insecure"},
    {"listen", "insecure", "insecure", SETTING_BOOL, AT(insecure), "false",
     "serve other machines without authentication"},
    {"listen", "tls_cert", "tls-cert", SETTING_TEXT, AT(tls_cert), "",
     "PEM file with the server's certificate; reloaded when it changes"},
    {"listen", "tls_key", "tls-key", SETTING_TEXT, AT(tls_key), "",
     "PEM file with its private key"},
    {"listen", "client_ca", "client-ca", SETTING_TEXT, AT(client_ca), "",
     "admit clients with a certificate signed by this CA"},
    {"listen", "client_allow", "client-allow", SETTING_TEXT, AT(client_allow),
     "", "of those, admit only these names: CN, DNS:name, URI"},
    {"listen", "token_file", "token-file", SETTING_TEXT, AT(token_file), "",
     "admit clients with a token from this file; scope=read, scope=write and "
     "services=a,b-* after a token restrict it"},
    {"listen", "kubernetes", "kubernetes", SETTING_BOOL, AT(kubernetes),
     "false", "admit clients whom the Kubernetes cluster authorizes"},
    {"listen", "hosts", "hosts", SETTING_TEXT, AT(hosts), "",
     "names allowed in the Host header besides addresses and localhost"},
    {"listen", "max_connections", NULL, SETTING_COUNT, AT(max_connections),
     "4096", "simultaneous connections"},
    {"listen", "workers", NULL, SETTING_COUNT, AT(workers), "16",
     "requests handled at the same time"},
    {"listen", "request_memory", NULL, SETTING_BYTES, AT(request_memory),
     "64MB", "memory for all requests that are being received"},
    {"listen", "exit_timeout", "exit-timeout", SETTING_DURATION,
     AT(exit_timeout_ns), "5s",
     "how long running requests may take after SIGTERM"},

    {"intake", "max_body", "max-body", SETTING_BYTES, AT(max_body), "16MB",
     "largest request body; larger ones get 413"},
    {"intake", "max_inflated", "max-inflated", SETTING_BYTES, AT(max_inflated),
     "128MB", "largest profile after decompression"},
    {"intake", "max_queue", NULL, SETTING_COUNT, AT(max_queue), "2000",
     "profiles that may wait for the disk; more get 503"},
    {"intake", "max_samples", NULL, SETTING_COUNT, AT(max_samples), "1000000",
     "most samples in one profile"},
    {"intake", "max_stack_depth", NULL, SETTING_COUNT, AT(max_stack_depth),
     "4096", "most frames in one sample"},
    {"intake", "max_label_values", NULL, SETTING_COUNT, AT(max_label_values),
     "10000",
     "most values of one sample label; further ones are dropped "
     "and counted, the sample is kept"},

    {"storage", "data", "data", SETTING_TEXT, AT(data), "",
     "directory of the embedded store"},
    {"storage", "store", "store", SETTING_TEXT, AT(store), "",
     "keep profiles in ClickHouse instead: "
     "clickhouse://user@host:8123[,host2:8123]/database, or clickhouses:// "
     "for TLS"},
    {"storage", "store_password_file", "store-password-file", SETTING_TEXT,
     AT(store_password_file), "",
     "file with ClickHouse's password; default $PPROFD_STORE_PASSWORD"},
    {"storage", "store_ca", "store-ca", SETTING_TEXT, AT(store_ca), "",
     "PEM file with the CAs of ClickHouse's certificate"},
    {"storage", "store_cert", "store-cert", SETTING_TEXT, AT(store_cert), "",
     "PEM file with a client certificate for ClickHouse"},
    {"storage", "store_key", "store-key", SETTING_TEXT, AT(store_key), "",
     "PEM file with its private key"},
    {"storage", "cluster", "cluster", SETTING_TEXT, AT(cluster), "",
     "name of a ClickHouse cluster: replicated tables, sharded by service"},
    {"storage", "store_timeout", "store-timeout", SETTING_DURATION,
     AT(store_timeout_ns), "20s",
     "how long to wait for an insert into ClickHouse and repeat it"},
    {"storage", "wal", "wal", SETTING_TEXT, AT(wal), "",
     "directory for profiles that ClickHouse cannot take at the moment"},
    {"storage", "wal_max", "wal-max", SETTING_BYTES, AT(wal_max), "1GB",
     "largest size of that directory; beyond it profiles are refused"},
    {"storage", "batch_wait", NULL, SETTING_DURATION, AT(batch_wait_ns), "40ms",
     "gather profiles this long before they are inserted into ClickHouse"},
    {"storage", "batch_profiles", NULL, SETTING_COUNT, AT(batch_profiles),
     "2000", "most profiles in one insert"},
    {"storage", "memory", NULL, SETTING_BYTES, AT(memory), "96MB",
     "memory for profiles that are not yet in a day file"},
    {"storage", "max_disk", "max-disk", SETTING_BYTES, AT(max_disk), "0",
     "delete the oldest day when the store is larger; 0: never"},
    {"storage", "s3_endpoint", "s3-endpoint", SETTING_TEXT, AT(s3_endpoint), "",
     "URL of the S3 server that the archive, export and import use; default "
     "$AWS_ENDPOINT_URL, or Amazon S3"},
    {"storage", "archive", "archive", SETTING_TEXT, AT(archive), "",
     "also keep every profile, as it was sent, in s3://BUCKET/PREFIX"},
    {"storage", "archive_spool", NULL, SETTING_BYTES, AT(archive_spool), "1GB",
     "disk space for profiles that wait for the archive; further ones are "
     "stored, counted and not archived"},
    {"storage", "archive_connections", NULL, SETTING_COUNT,
     AT(archive_connections), "4", "profiles sent to the archive at a time"},
    {"storage", "archive_memory", NULL, SETTING_BYTES, AT(archive_memory),
     "64MB",
     "memory for copies of profiles that are being stored; more get 503"},

    {"retention", "raw", "retention", SETTING_DURATION, AT(keep_raw_ns), "7d",
     "keep single profiles this long, counted from created_at; 0: forever"},
    {"retention", "minute", NULL, SETTING_DURATION, AT(keep_minute_ns), "14d",
     "keep sums over a minute this long; 0: make none"},
    {"retention", "hour", NULL, SETTING_DURATION, AT(keep_hour_ns), "30d",
     "keep sums over an hour this long; 0: make none"},
    {"retention", "day", NULL, SETTING_DURATION, AT(keep_day_ns), "180d",
     "keep sums over a day this long; 0: make none"},

    {"scrape", "self", "scrape-self", SETTING_BOOL, AT(scrape_self), "true",
     "store profiles of pprofd itself, as the service pprofd"},
    {"scrape", "max_transfers", NULL, SETTING_COUNT, AT(scrape_transfers),
     "4096", "scrapes at the same time"},
    {"scrape", "max_measuring", NULL, SETTING_COUNT, AT(scrape_measuring),
     "2048", "profiles that take seconds (cpu, wall) at the same time"},
    {"scrape", "max_measuring_per_host", NULL, SETTING_COUNT,
     AT(scrape_per_host), "4", "of those, on one host"},
    {"scrape", "memory", NULL, SETTING_BYTES, AT(scrape_memory), "64MB",
     "memory for the replies of all scrapes that are under way"},
    {"scrape", "max_targets", NULL, SETTING_COUNT, AT(scrape_targets), "100000",
     "targets; further ones are dropped and counted"},

    {"query", "max_profiles", NULL, SETTING_COUNT, AT(query_profiles),
     "1000000", "profiles that one query may read; 0: any number"},
    {"query", "max_bytes", NULL, SETTING_BYTES, AT(query_bytes), "4GB",
     "stored data that one query may read; 0: any amount"},
    {"query", "max_cpu", NULL, SETTING_DURATION, AT(query_cpu_ns), "30s",
     "CPU time of one query; 0: any amount"},
    {"query", "max_memory", NULL, SETTING_BYTES, AT(query_memory), "512MB",
     "memory for one query and its report"},
    {"query", "page_overview", NULL, SETTING_BYTES, AT(page_overview), "1MB",
     "send the list of services inside the page up to this size; 0: never"},
    {"query", "page_wait", NULL, SETTING_DURATION, AT(page_wait_ns), "50ms",
     "send the page without it if it takes longer than that"},

    {"log", "level", "log.level", SETTING_TEXT, AT(log_level), "info",
     "debug, info, warn or error"},
};

const size_t settings_n = sizeof(settings_table) / sizeof(settings_table[0]);

/* --- values --------------------------------------------------------------- */

static bool wrong(const struct setting *which, struct str text,
                  const char *wanted, struct error *err)
{
    return error_set(err, "%s.%s: \"%" STR_FMT "\" is not %s", which->section,
                     which->key, STR_ARG(text), wanted);
}

bool setting_set(struct settings *s, const struct setting *which,
                 struct str text, struct error *err)
{
    void *at = (char *)s + which->offset;
    uint64_t number;

    switch (which->kind) {
    case SETTING_TEXT:
        *(struct str *)at = text;
        return true;
    case SETTING_BOOL:
        return goparse_bool(text, at) == GOPARSE_OK ||
               wrong(which, text, "true or false", err);
    case SETTING_COUNT:
        return str_to_u64(text, 10, at) || wrong(which, text, "a number", err);
    case SETTING_BYTES:
        return size_parse(text, at) ||
               wrong(which, text, "a size; write 512, 64KB, 1.5GB", err);
    case SETTING_DURATION:
        /* `--retention 7` means days to most people, and deletes on the
         * spot what is older than that many seconds. */
        if (str_to_u64(text, 10, &number) && number)
            return wrong(which, text, "a duration; write 30s, 5m, 1h30m or 7d",
                         err);
        return duration_parse(text, at, err) ||
               error_wrap(err, "%s.%s", which->section, which->key);
    }
    return false;
}
