#ifndef HTTP_TLS_CERTIFICATE_H
#define HTTP_TLS_CERTIFICATE_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Returns true if one of a certificate's names is on the list. `names` comes
 * from tls_client_names().  The list has commas between entries:
 *
 *     alice, DNS:profiler.example, spiffe://cluster/ns/mon*
 *
 * "CN:", "DNS:", "EMAIL:" and "URI:" say what an entry means; without, one
 * with "://" is a URI (a SPIFFE id), any other a common name.  A star at the
 * end stands for any rest.  DNS names compare without regard to case.
 */
bool certificate_is_listed(struct str names, struct str list);

/* The name of the certificate's owner: the first one; "" if there is none. */
struct str certificate_first_name(struct str names);

#endif
