#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "base/json.h"
#include "page/request.h"
#include "report/context.h"
#include "report/header.h"

/*
 * What the views ask for: a report in a form that suits a browser.  Each is
 * a report_body, one file each.
 */
report_body data_flame; /* binary, docs/page.md */
report_body data_top;

/* JSON about the page itself: sample types, options, profiles. */
bool data_meta(struct page_request *q, struct error *err);

/* ---- pieces of JSON ---- */

void json_add_text(struct json *j, const char *key, struct str value);
void json_add_i64(struct json *j, const char *key, int64_t value);

/* "key": the value as the report prints it. */
void json_add_value_text(struct json *j, const char *key,
                         const struct report *r, int64_t value);

/* "key": its share of the total as reports print it, "12.34%". */
void json_add_percent_text(struct json *j, const char *key,
                           const struct report *r, int64_t value);

/* "key": [the lines of a text]. */
void json_add_lines(struct json *j, const char *key, struct str text);

/* "legend": the lines above the report, "warnings": what it warned of. */
void json_add_legend(struct json *j, const struct report *r,
                     const struct header_counts *counts);

#endif
