#ifndef CMD_PPROFD_SELF_PROFILE_H
#define CMD_PPROFD_SELF_PROFILE_H

#include "http/server/server.h"

/* Answers a request under /debug/pprof/ with a profile of this process,
 * through libpprof as any other program would. */
void self_profile(struct http_exchange *x);

/* The same without a request: appends the reply for a path and a query, and
 * returns its status.  is_gone(arg) ends a profile that takes seconds. */
int self_profile_get(const char *path, const char *query, struct buf *body,
                     int (*is_gone)(void *arg), void *arg);

#endif
