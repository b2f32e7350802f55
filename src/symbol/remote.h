#ifndef SYMBOL_REMOTE_H
#define SYMBOL_REMOTE_H

#include "profile/profile.h"
#include "symbol/symbolize_request.h"

/*
 * Asks the servers that the profile came from ("symbolz"): function names for
 * the addresses of each mapping that has none.  A server that does not answer
 * is asked only once, and reported in a line of `messages`.
 */
void symbolize_remote(struct profile *p,
                      const struct symbolize_request *request, bool force,
                      struct buf *messages);

#endif
