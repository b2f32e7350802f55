#ifndef SYMBOL_SYMBOLIZE_H
#define SYMBOL_SYMBOLIZE_H

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * Names for the addresses of a profile: from the binaries on this machine,
 * then from the servers it came from, then demangled.
 */

/* Where the addresses of a mapping can be asked for: the mapping is the one
 * whose file name or build id is `key`, and starts at `start` over there. */
struct symbolize_source {
    struct str key;
    struct str url; /* from which the profile was fetched */
    uint64_t start;
};

struct symbolize_request {
    struct str mode; /* the -symbolize flag: "local:demangle=full", "" … */
    const struct symbolize_source *sources;
    size_t n_sources;
    /* Sends `body` by POST to `url` and appends the reply.  The words it
     * fails with become the error of symbolize_profile. */
    bool (*post)(void *arg, struct str url, struct str body, struct buf *reply,
                 struct error *err);
    void *arg;
};

/*
 * Fills in lines and functions in place.  A binary that cannot be read costs
 * a line in `messages`, not the profile; a server that does not answer is an
 * error.
 */
bool symbolize_profile(struct profile *p,
                       const struct symbolize_request *request,
                       struct buf *messages, struct error *err);

/*
 * Is there nothing to be found for such a file: [vdso], /dev/dri/…, //anon,
 * memfds, no name at all?
 */
bool symbolize_is_unsymbolizable(struct str file);

#endif
