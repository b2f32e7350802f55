#ifndef COLLECTOR_QUERY_SERIES_H
#define COLLECTOR_QUERY_SERIES_H

#include "http/server/route.h"

/* Queries of /api/1 whose answer is a time series. */
http_route_fn query_series;   /* GET /api/1/series */
http_route_fn query_function; /* GET /api/1/function */

#endif
