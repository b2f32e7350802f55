#ifndef SYMBOL_REMOTE_H
#define SYMBOL_REMOTE_H

#include "symbol/symbolize.h"

/*
 * Asks the servers that the profile came from ("symbolz"): function names
 * for the addresses of each mapping that has none.
 */
bool symbolize_remote(struct profile *p,
                      const struct symbolize_request *request, bool force,
                      struct error *err);

#endif
