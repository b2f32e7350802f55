#ifndef PAGE_ROUTES_H
#define PAGE_ROUTES_H

#include "page/request.h"

/* Finds the route of a request and answers it. */
void route_request(struct page_request *q);

#endif
