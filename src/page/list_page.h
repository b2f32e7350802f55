#ifndef PAGE_LIST_PAGE_H
#define PAGE_LIST_PAGE_H

#include "page/request.h"

/*
 * /ui/services: a page of its own, with what it shows first inside of it.
 *
 * list_page_prepare() asks for that and keeps it in q->overview, where it is
 * empty if the page has to ask.  It runs outside of the request's memory
 * scope: the collector keeps some of what it reads for the next request.
 */
void list_page_prepare(struct page_request *q);
void list_page_answer(struct page_request *q);

#endif
