#ifndef SYMBOL_SYMBOLIZE_REQUEST_H
#define SYMBOL_SYMBOLIZE_REQUEST_H

#include "base/buf.h"
#include "base/error.h"

/* Where to ask for the addresses of a mapping: the mapping whose file name or
 * build id is `key`, which starts at `start` on that server. */
struct symbolize_source {
    struct str key;
    struct str url; /* from which the profile was fetched */
    uint64_t start;
    struct str login; /* for the caller's own use */
};

struct symbolize_request {
    struct str mode; /* the -symbolize flag: "local:demangle=full", "" … */
    const struct symbolize_source *sources;
    size_t n_sources;
    /* Asks for the addresses ("0x1234+0x5678") at `url`, which belongs to the
     * source, and appends the reply. */
    bool (*ask)(void *arg, const struct symbolize_source *source,
                struct str url, struct str addresses, struct buf *reply,
                struct error *err);
    void *arg;
};

#endif
