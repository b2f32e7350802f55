#ifndef HTTP_SERVER_HOST_H
#define HTTP_SERVER_HOST_H

#include <stdbool.h>

#include "http/server/message.h"

/*
 * Protection against other sites' web pages.
 *
 * DNS rebinding: a web page can make a name of its own point at 127.0.0.1 and
 * so read, with the user's browser, what listens there.  Its requests then
 * carry that name as Host.
 *
 * Returns true for: no Host at all (not a browser), an IP address (there is
 * no name to rebind), "localhost", and the names in `allowed`, a
 * comma-separated list; "*" in it allows every name.  NULL: none.  A value
 * that is not exactly a host and an optional port is never accepted.
 */
bool http_host_is_fine(const struct http_request *r, const char *allowed);

/* Returns true if the Host header, if any, is a host and an optional port. */
bool http_host_is_well_formed(const struct http_request *r);

/*
 * Returns true if a browser sent the request on behalf of another site.  That
 * site cannot read the reply, but it can make the program work.  With
 * may_navigate, following a link to a document here does not count.
 */
bool http_is_cross_site(const struct http_request *r, bool may_navigate);

/*
 * Returns true if the request comes from a page of ours or from a program.
 * Another site can make a browser send a request, but neither with the header
 * X-Pprof nor with the same origin.  For requests that change something.
 */
bool http_is_own(const struct http_request *r);

#endif
