#ifndef COLLECTOR_RESTRICTION_H
#define COLLECTOR_RESTRICTION_H

#include "base/arena.h"
#include "http/server/exchange.h"
#include "store/store.h"

/*
 * Tokens may be restricted to services.  This is the condition that every
 * query of such a client must meet besides its own: false if the client may
 * read every service.  The matcher uses the identity, which must outlive it.
 */
bool restriction_of(struct http_identity *who, struct arena *a,
                    struct store_matcher *out);

#endif
