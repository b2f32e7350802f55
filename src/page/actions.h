#ifndef PAGE_ACTIONS_H
#define PAGE_ACTIONS_H

#include "page/request.h"

/*
 * Requests that change something: profiles are added and removed, settings
 * saved.  Only the page itself may send them, and programs that mean it.
 *
 * Answers the request and says true, if it is such a one.
 */
bool action_answer(struct page_request *q);

#endif
