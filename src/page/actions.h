#ifndef PAGE_ACTIONS_H
#define PAGE_ACTIONS_H

#include "page/request.h"

/*
 * Requests that change something: adding and removing profiles, saving
 * settings.  Only the page itself may send them, and programs that send the
 * header X-Pprof.
 *
 * Returns true if it has answered the request; false if it is not such a
 * request.
 */
bool action_answer(struct page_request *q);

#endif
