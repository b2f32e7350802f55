#ifndef COLLECTOR_INTAKE_PROFEFE_STORE_H
#define COLLECTOR_INTAKE_PROFEFE_STORE_H

#include "http/server/route.h"

/*
 * POST /api/0/profiles: stores a profile as profefe does.  The exchange is
 * deferred: the reply follows the commit, and no worker waits for it.
 */
http_route_fn profefe_store;

#endif
