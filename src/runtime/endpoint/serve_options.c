/*
 * Reading the options, and refusing those that do not go together before
 * anything listens.  pprof-run uses it, too, to refuse them before it starts
 * the program.
 */
#include "runtime/endpoint/serve_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "http/server/address.h"
#include "http/server/server.h"
#include "pprof/pprof.h"

#define DEFAULT_ADDRESS "127.0.0.1:6060"
#define MB              ((uint64_t)1 << 20)

/* Requests here are small: addresses for symbol, at most. */
#define MAX_REQUEST_MEMORY ((size_t)16 << 20)

static const struct serve_options defaults = {
    .address = DEFAULT_ADDRESS,
    .unix_mode = 0600,
    .max_seconds = 300,
    .max_reply_bytes = 256 * MB,
    .max_connections = 64,
    .max_requests = 600,
    .max_cpu_percent = 2,
};

static void take_text(const char *asked, const char *variable, const char **to)
{
    const char *value = asked && *asked ? asked : secure_getenv(variable);

    if (value && *value)
        *to = value;
}

/* Set, but to nothing? */
static bool is_empty(const char *asked, const char *variable)
{
    const char *value = asked ? asked : secure_getenv(variable);

    return value && str_trim(str_from(value)).n == 0;
}

static bool is_one(const char *variable)
{
    const char *value = secure_getenv(variable);

    return value && strcmp(value, "1") == 0;
}

/* A number of the environment within bounds; `to` stays without one. */
static bool take_number(const char *variable, int base, uint64_t min,
                        uint64_t max, uint64_t *to, struct error *err)
{
    const char *value = secure_getenv(variable);
    uint64_t n;

    if (!value || !*value)
        return true;
    if (!str_to_u64(str_from(value), base, &n) || n < min || n > max)
        return error_set(err, "%s=%s: must be a number from %llu to %llu",
                         variable, value, (unsigned long long)min,
                         (unsigned long long)max);
    *to = n;
    return true;
}

static bool take_unsigned(const char *variable, int base, uint64_t min,
                          uint64_t max, unsigned *to, struct error *err)
{
    uint64_t n = *to;
    bool ok = take_number(variable, base, min, max, &n, err);

    *to = (unsigned)n;
    return ok;
}

static bool read_environment_limits(struct serve_options *out,
                                    struct error *err)
{
    uint64_t megabytes = out->max_reply_bytes / MB;
    bool ok =
        take_number("PPROF_MAX_SECONDS", 10, 1, 86400, &out->max_seconds,
                    err) &&
        take_number("PPROF_MAX_REPLY_MB", 10, 1, 65536, &megabytes, err) &&
        take_unsigned("PPROF_MAX_CONNECTIONS", 10, 1, 65536,
                      &out->max_connections, err) &&
        take_unsigned("PPROF_MAX_REQUESTS", 10, 0, 1000000, &out->max_requests,
                      err) &&
        take_unsigned("PPROF_MAX_CPU", 10, 0, 100, &out->max_cpu_percent,
                      err) &&
        take_unsigned("PPROF_UNIX_MODE", 8, 0, 0777, &out->unix_mode, err);

    out->max_reply_bytes = megabytes * MB;
    return ok;
}

/* What the program itself asked for counts more; < 0 is "no limit" where
 * that exists. */
static void take_asked_limits(const struct pprof_serve_options *asked,
                              struct serve_options *out)
{
    if (asked->max_seconds > 0)
        out->max_seconds = (uint64_t)asked->max_seconds;
    if (asked->max_reply_bytes > 0)
        out->max_reply_bytes = asked->max_reply_bytes;
    if (asked->max_connections > 0)
        out->max_connections = (unsigned)asked->max_connections;
    if (asked->max_requests != 0)
        out->max_requests =
            asked->max_requests < 0 ? 0 : (unsigned)asked->max_requests;
    if (asked->max_cpu_percent != 0)
        out->max_cpu_percent =
            asked->max_cpu_percent < 0 ? 0 : (unsigned)asked->max_cpu_percent;
    if (asked->unix_mode != 0)
        out->unix_mode = asked->unix_mode;
}

bool serve_options_guard(const struct serve_options *o)
{
    return o->client_ca || o->token_file || o->kubernetes;
}

static bool check_together(const struct serve_options *o, struct error *err)
{
    if (!o->tls_cert != !o->tls_key)
        return error_set(err, "%s is given, so %s must be given too",
                         o->tls_cert ? "tls-cert (PPROF_TLS_CERT)"
                                     : "tls-key (PPROF_TLS_KEY)",
                         o->tls_cert ? "tls-key (PPROF_TLS_KEY)"
                                     : "tls-cert (PPROF_TLS_CERT)");
    if (o->client_ca && !o->tls_cert)
        return error_set(err,
                         "client-ca (PPROF_CLIENT_CA) checks certificates of "
                         "TLS clients: set tls-cert (PPROF_TLS_CERT) and "
                         "tls-key (PPROF_TLS_KEY) too");
    if (o->client_allow && !o->client_ca)
        return error_set(err,
                         "client-allow (PPROF_CLIENT_ALLOW) names owners of "
                         "certificates: set client-ca (PPROF_CLIENT_CA) too");
    return true;
}

static bool check_address(const struct serve_options *o, struct error *err)
{
    if (strcmp(o->address, "0") == 0)
        return error_set(err, "disabled: the address is 0");
    return http_address_check(o->address, err);
}

static bool check_file(const char *path, struct error *err)
{
    return !path || access(path, R_OK) == 0 ||
           error_set_os(err, "open", path, errno);
}

bool serve_options_check_files(const struct serve_options *o, struct error *err)
{
    return check_file(o->tls_cert, err) && check_file(o->tls_key, err) &&
           check_file(o->client_ca, err);
}

static bool check_reach(const struct serve_options *o, struct error *err)
{
    if (o->insecure || http_address_is_local(o->address))
        return true;
    if (!serve_options_guard(o))
        return error_set_code(
            err, EACCES,
            "%s can be reached from other machines, and any client "
            "could read the program's profiles: set client-ca "
            "(PPROF_CLIENT_CA) or token-file (PPROF_TOKEN_FILE) with "
            "tls-cert and tls-key (PPROF_TLS_CERT, PPROF_TLS_KEY), or listen "
            "at 127.0.0.1, or set insecure (PPROF_INSECURE=1)",
            o->address);
    if (!o->tls_cert)
        return error_set_code(
            err, EACCES,
            "%s can be reached from other machines, and tokens would cross "
            "the network unencrypted: set tls-cert and tls-key "
            "(PPROF_TLS_CERT, PPROF_TLS_KEY), or set insecure "
            "(PPROF_INSECURE=1)",
            o->address);
    return true;
}

bool serve_options_read(const struct pprof_serve_options *asked,
                        struct serve_options *out, struct error *err)
{
    struct pprof_serve_options a = {0};

    if (asked)
        memcpy(&a, asked, asked->size < sizeof(a) ? asked->size : sizeof(a));
    *out = defaults;
    take_text(a.address, "PPROF_ADDR", &out->address);
    take_text(a.tls_cert, "PPROF_TLS_CERT", &out->tls_cert);
    take_text(a.tls_key, "PPROF_TLS_KEY", &out->tls_key);
    take_text(a.client_ca, "PPROF_CLIENT_CA", &out->client_ca);
    take_text(a.client_allow, "PPROF_CLIENT_ALLOW", &out->client_allow);
    if (is_empty(a.client_allow, "PPROF_CLIENT_ALLOW"))
        return error_set(err,
                         "client-allow (PPROF_CLIENT_ALLOW) is empty: name "
                         "the clients that may read, or unset it to allow "
                         "every certificate of client-ca");
    take_text(a.token_file, "PPROF_TOKEN_FILE", &out->token_file);
    take_text(a.hosts, "PPROF_HOSTS", &out->hosts);
    take_text(NULL, "PPROF_AUDIT", &out->audit);
    out->insecure = a.insecure || is_one("PPROF_INSECURE");
    out->kubernetes = a.kubernetes || is_one("PPROF_KUBERNETES");
    out->quiet = is_one("PPROF_QUIET");
    out->on_audit = a.audit;
    out->audit_arg = a.audit_arg;
    if (!read_environment_limits(out, err))
        return false;
    take_asked_limits(&a, out);
    return check_address(out, err) && check_together(out, err) &&
           check_reach(out, err);
}

bool serve_options_wanted(void)
{
    const char *address = secure_getenv("PPROF_ADDR");

    return address && *address && strcmp(address, "0") != 0;
}

struct guard *serve_options_new_guard(const struct serve_options *o,
                                      void (*say)(void *arg, const char *words),
                                      struct error *err)
{
    return guard_new(
        &(struct guard_options){
            .certificates = o->client_ca != NULL,
            .client_allow = o->client_allow,
            .token_file = o->token_file,
            .kubernetes = o->kubernetes,
            .posts_read = true,
            /* Where everybody may read anyway no name can be wrong. */
            .hosts =
                o->hosts || http_address_is_local(o->address) ? o->hosts : "*",
            .host_hint = "the Host header is not an address of this machine; "
                         "if the name is right, allow it with PPROF_HOSTS",
            .say = say,
        },
        err);
}

struct http_limits serve_options_limits(const struct serve_options *o,
                                        unsigned workers)
{
    struct http_limits limits = http_default_limits;

    limits.connections = o->max_connections;
    limits.workers = workers;
    limits.request_memory_bytes = MAX_REQUEST_MEMORY;
    limits.reply_bytes = o->max_reply_bytes;
    limits.reply_memory_bytes = 2 * o->max_reply_bytes;
    limits.requests = o->max_requests;
    limits.cpu_percent = o->max_cpu_percent;
    return limits;
}

/* The texts of it, for those who treat all alike. */
static void texts_of(struct serve_options *o, const char **out[8])
{
    const char **texts[] = {&o->address,      &o->tls_cert,   &o->tls_key,
                            &o->client_ca,    &o->token_file, &o->hosts,
                            &o->client_allow, &o->audit};

    memcpy(out, texts, sizeof(texts));
}

bool serve_options_copy(const struct serve_options *o,
                        struct serve_options *out)
{
    const char **texts[8];
    bool ok = true;

    *out = *o;
    texts_of(out, texts);
    for (int i = 0; i < 8; i++) {
        if (!*texts[i])
            continue;
        *texts[i] = strdup(*texts[i]);
        ok &= *texts[i] != NULL;
    }
    return ok;
}

void serve_options_release(struct serve_options *o)
{
    const char **texts[8];

    texts_of(o, texts);
    for (int i = 0; i < 8; i++)
        free((char *)*texts[i]);
    *o = (struct serve_options){0};
}
