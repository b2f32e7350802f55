#ifndef CMD_KUBECTL_PPROF_CERTIFICATE_H
#define CMD_KUBECTL_PPROF_CERTIFICATE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * A certificate that a server and its clients share, and the CA that signed it.
 * It is valid for both ends, so that the server and `kubectl pprof` share one
 * Secret.  The CA's key is discarded: nobody can issue another certificate that
 * the server accepts.
 */
struct certificate {
    struct buf cert, key, ca; /* PEM */
};

#define CERTIFICATE_DAYS 365

/* `names` are comma-separated DNS names: "localhost,web.demo.svc". */
bool certificate_make(struct certificate *out, const char *common_name,
                      const char *names, struct error *err);

void certificate_release(struct certificate *c); /* overwrites the key */

#endif
