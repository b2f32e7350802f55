#ifndef COLLECTOR_SCRAPE_TARGETS_H
#define COLLECTOR_SCRAPE_TARGETS_H

#include "http/server/route.h"

/* GET /api/1/targets and GET /targets: the targets and their state.  A client
 * that is restricted to services sees only their targets. */
http_route_fn targets_json, targets_page;

#endif
