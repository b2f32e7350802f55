#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include <stdbool.h>

#include "http/message.h"

/*
 * Against DNS rebinding: a web page can make a name of its own point at
 * 127.0.0.1 and so read, with the user's browser, what listens there.  Its
 * requests then carry that name as Host.
 *
 * Fine are: no Host at all (no browser), an IP address (no name to rebind),
 * "localhost", and the names in `allowed`, a list with commas; "*" in it
 * allows all.  NULL: none.
 */
bool http_host_is_fine(const struct http_request *r, const char *allowed);

#endif
