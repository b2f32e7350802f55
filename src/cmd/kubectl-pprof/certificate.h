#ifndef CMD_KUBECTL_PPROF_CERTIFICATE_H
#define CMD_KUBECTL_PPROF_CERTIFICATE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * A certificate that a server and its clients share, and the CA that signed
 * it.  It is good for both ends, so one Secret is all that a server with
 * client certificates and `kubectl pprof` need.  The CA's key is forgotten:
 * nobody can make another certificate that the server accepts.
 */
struct certificate {
    struct buf cert, key, ca; /* PEM */
};

#define CERTIFICATE_DAYS 365

/* `names` are DNS names with commas: "localhost,web.demo.svc". */
bool certificate_make(struct certificate *out, const char *common_name,
                      const char *names, struct error *err);

void certificate_release(struct certificate *c); /* overwrites the key */

#endif
