#ifndef PAGE_LIST_PAGE_H
#define PAGE_LIST_PAGE_H

#include "page/request.h"

/*
 * /ui/services: a page of its own that contains its first rows.
 *
 * list_page_prepare() gets the rows and keeps them in q->overview; if that is
 * empty, the page requests them.  It runs outside of the request's memory
 * scope, because the collector caches some of what it reads.
 */
void list_page_prepare(struct page_request *q);
void list_page_answer(struct page_request *q);

#endif
