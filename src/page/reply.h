#ifndef PAGE_REPLY_H
#define PAGE_REPLY_H

#include "page/assets.h"
#include "page/request.h"

/*
 * Replies.  Every one has headers that stop a browser from guessing types and
 * from running scripts that are not ours.
 */

/* Sends the body of the exchange as `type`, gzipped if the client accepts that
 * and the body is not tiny. */
void reply_body(struct page_request *q, struct str type);

/* Sends a body that is gzipped already; the client accepts gzip. */
void reply_packed(struct page_request *q, struct str type);

/* Sends the body as it is, never gzipped. */
void reply_bytes(struct page_request *q, struct str type);

/* A status with a message in plain text, as Go's http.Error writes it. */
void reply_text(struct page_request *q, int status, struct str words);

/* {"error": "…"} */
void reply_json_error(struct page_request *q, int status, struct str words);

/* Replies that the request failed: status 400, or 503 if it ran out of memory,
 * with the error's text.  The text is also reported to the server's owner. */
void reply_failure(struct page_request *q, const struct error *err);
void reply_json_failure(struct page_request *q, const struct error *err);

/* A redirect: `to` is the Location, the request's query is kept. */
void reply_redirect(struct page_request *q, int status, const char *to);

/* One of the page's files, from where the options say. */
void reply_asset(struct page_request *q, const struct asset *asset);

/* The shell: index.html, with this status. */
void reply_shell(struct page_request *q, int status);

/* Returns true if the client requests a page (a browser that navigates to an
 * address). */
bool request_wants_html(const struct page_request *q);

/* Returns true if the client accepts a gzipped body. */
bool request_takes_gzip(const struct page_request *q);

/* The files of this page: a single profile's, or the collector's. */
const struct asset_set *request_assets(const struct page_request *q);

#endif
