#ifndef COLLECTOR_QUERY_NAMES_H
#define COLLECTOR_QUERY_NAMES_H

#include "http/server/route.h"

/* Queries of /api/1 for the names of services and labels. */
http_route_fn query_services; /* GET /api/1/services */
http_route_fn query_labels;   /* GET /api/1/labels */

#endif
