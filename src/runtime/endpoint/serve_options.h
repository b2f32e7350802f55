#ifndef RUNTIME_ENDPOINT_SERVE_OPTIONS_H
#define RUNTIME_ENDPOINT_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "http/access/guard.h"
#include "http/server/server.h"

struct pprof_serve_options;

/*
 * Options of the endpoint: from the program, else the environment, else the
 * default.  The names of the variables are in env.h; a set-uid program ignores
 * them.
 */
struct serve_options {
    const char *address;
    bool insecure; /* set explicitly */
    bool quiet;    /* do not print its URL on stderr */

    const char *tls_cert, *tls_key, *client_ca;
    const char *client_allow, *token_file, *hosts;
    bool kubernetes;
    unsigned unix_mode;

    uint64_t max_seconds, max_reply_bytes;
    unsigned max_connections, max_requests, max_cpu_percent;

    const char *audit; /* "off", "stderr" or a file; NULL: stderr if guarded */
    void (*on_audit)(void *arg, const char *line); /* instead */
    void *audit_arg;
};

/* `asked` may be NULL.  False: an invalid number, two settings that cannot be
 * combined, or an address that other machines can reach. */
/* Returns true if the certificate files can be read. */
bool serve_options_check_files(const struct serve_options *o,
                               struct error *err);

/* Returns true if the environment asks for an endpoint.  An empty PPROF_ADDR or
 * 0 does not. */
bool serve_options_wanted(void);

bool serve_options_read(const struct pprof_serve_options *asked,
                        struct serve_options *out, struct error *err);

/* Returns true if authentication is enabled. */
bool serve_options_guard(const struct serve_options *o);

/* The guard and the limits that the options ask for.  `say` takes messages
 * for a log. */
struct guard *serve_options_new_guard(const struct serve_options *o,
                                      void (*say)(void *arg, const char *words),
                                      struct error *err);
struct http_limits serve_options_limits(const struct serve_options *o,
                                        unsigned workers);

/* A copy that outlives what it was made of. */
bool serve_options_copy(const struct serve_options *o,
                        struct serve_options *out);
void serve_options_release(struct serve_options *o);

#endif
