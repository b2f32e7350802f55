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
report_body data_diff;
report_body data_disasm;
report_body data_flame; /* binary, docs/page.md */
report_body data_graph;
report_body data_source;
report_body data_stacks;
report_body data_top;

/* JSON about the page itself: sample types, options, profiles. */
bool data_meta(struct page_request *q, struct buf *out, struct error *err);

/* ---- by name ---- */

bool data_exists(struct str name);
struct str data_type(struct str name); /* for Content-Type */

/* Does the answer depend on the query alone?  Else on files, settings or the
 * profiles that were added, too. */
bool data_is_constant(struct str name);

/* Makes the data of that name, as the words of the query say. */
bool data_make(struct page_request *q, struct str name, struct buf *out,
               struct error *err);

/* The same gzipped.  Constant data are kept, and made once for a query; q has
 * the words of `query`. */
bool data_make_packed(struct page_request *q, struct str name, struct str query,
                      struct buf *out, struct error *err);

/* ---- pieces of JSON ---- */

void json_add_text(struct json *j, const char *key, struct str value);
void json_add_i64(struct json *j, const char *key, int64_t value);
void json_add_bool(struct json *j, const char *key, bool value);
void json_add_address(struct json *j, const char *key, uint64_t address);

/* "key": the value as the report prints it. */
void json_add_value_text(struct json *j, const char *key,
                         const struct report *r, int64_t value);

/* "key": its share of the total as reports print it, "12.34%". */
void json_add_percent_text(struct json *j, const char *key,
                           const struct report *r, int64_t value);

/* flat, cum, and flat_text, cum_text as the report prints them. */
void json_add_costs(struct json *j, const struct report *r, int64_t flat,
                    int64_t cum);

/* What turns a value of the profile into seconds, bytes or GCU, and the name
 * of that unit; 1 and "" for all others. */
void json_add_scale(struct json *j, const char *scale_key, const char *unit_key,
                    const struct report *r);

/* "key": [the lines of a text]. */
void json_add_lines(struct json *j, const char *key, struct str text);

/* "legend": the lines above the report, "warnings": what it warned of. */
void json_add_legend(struct json *j, const struct report *r,
                     const struct header_counts *counts);

/* The same of a report that is no graph: only what describes the profile. */
void json_add_profile_legend(struct json *j, const struct report *r);

#endif
