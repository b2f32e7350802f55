#ifndef PAGE_OFFLINE_H
#define PAGE_OFFLINE_H

#include "page/request.h"

/*
 * The page as one HTML file that needs no server: scripts, styles, for every
 * sample type the answers that its views ask for, and the profile.
 *
 * Each answer is an element <script type="…" data-answer="flame?si=cpu"> that
 * holds the bytes of the reply, gzipped, in base64; docs/page.md has the list.
 * The file's own policy lets nothing run but the script it was made with.
 */

/* Appends it.  Filters and options of the request hold for all its data. */
bool offline_write(struct page_request *q, struct buf *out, struct error *err);

void offline_answer(struct page_request *q);

#endif
