#ifndef COLLECTOR_QUERY_OVERVIEW_H
#define COLLECTOR_QUERY_OVERVIEW_H

/* GET /api/1/overview: one row for each service and profile type, with its
 * course, its present cost and the cost of some time before. */
void query_overview(void *request);

#endif
