#ifndef COLLECTOR_QUERY_PROFILES_H
#define COLLECTOR_QUERY_PROFILES_H

#include "http/server/route.h"

/* Queries of /api/1 that return a profile or a list of profiles. */
http_route_fn query_merge;    /* GET /api/1/merge */
http_route_fn query_diff;     /* GET /api/1/diff */
http_route_fn query_top;      /* GET /api/1/top */
http_route_fn query_profiles; /* GET /api/1/profiles */

#endif
