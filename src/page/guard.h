#ifndef PAGE_GUARD_H
#define PAGE_GUARD_H

#include "page/request.h"

/*
 * Who may ask, and what only the page itself may do.
 */

/* Answers requests that must go no further; false then. */
bool guard_admit(struct page_request *q);

/*
 * Does the request come from the page itself (or from a program)?  Another
 * site can make a browser send a request here, but neither with the header
 * X-Pprof nor as one of the same origin.
 */
bool guard_is_own(const struct page_request *q);

#endif
