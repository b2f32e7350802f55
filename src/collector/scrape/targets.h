#ifndef COLLECTOR_SCRAPE_TARGETS_H
#define COLLECTOR_SCRAPE_TARGETS_H

#include "http/server/route.h"

/* GET /api/1/targets and GET /targets: what is scraped, and how that goes.
 * A client that is restricted to services sees only theirs. */
http_route_fn targets_json, targets_page;

#endif
