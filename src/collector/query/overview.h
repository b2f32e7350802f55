#ifndef COLLECTOR_QUERY_OVERVIEW_H
#define COLLECTOR_QUERY_OVERVIEW_H

/* GET /api/1/overview: one row for each service and profile type, with its cost
 * over time, its current cost and an earlier one to compare with. */
void query_overview(void *request);

#endif
