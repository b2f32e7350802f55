#ifndef COLLECTOR_QUERY_PROFEFE_QUERY_H
#define COLLECTOR_QUERY_PROFEFE_QUERY_H

#include "http/server/route.h"

/*
 * The reading half of profefe's API.  docs/collector-api.md lists where it
 * differs from the original.
 */
http_route_fn profefe_list;     /* GET /api/0/profiles */
http_route_fn profefe_merge;    /* GET /api/0/profiles/merge */
http_route_fn profefe_services; /* GET /api/0/services */
http_route_fn profefe_version;  /* GET /api/0/version */
http_route_fn profefe_get;      /* GET /api/0/profiles/ID[+ID…] */

#endif
