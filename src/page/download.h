#ifndef PAGE_DOWNLOAD_H
#define PAGE_DOWNLOAD_H

#include "page/request.h"

/*
 * Answers /ui/download: the whole profile in pprof's format, or, with
 * format=folded, speedscope or json, a report that obeys the query's words.
 */
void download_answer(struct page_request *q);

/* Names the file that the browser saves: that of the profile, "heap", with
 * this ending. */
void download_name(struct page_request *q, const char *ending);

/* The whole profile, gzipped. */
bool download_profile(struct page_request *q, struct buf *out,
                      struct error *err);

#endif
