#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "page/request.h"
#include "report/context.h"

/*
 * The data that views request: reports in a form that suits a browser.  Each is
 * a report_body in a file of its own.
 */
report_body data_diff;
report_body data_disasm;
report_body data_flame; /* binary, docs/page.md */
report_body data_graph;
report_body data_labels;
report_body data_source;
report_body data_stacks;
report_body data_top;

/* JSON about the page itself: sample types, options, profiles. */
bool data_meta(struct page_request *q, struct buf *out, struct error *err);

/* ---- by name ---- */

bool data_exists(struct str name);
struct str data_type(struct str name); /* for Content-Type */

/* Returns true if the answer depends only on query_version(), and not on files,
 * settings or the list of profiles. */
bool data_is_constant(struct str name);

/* Makes the data of that name with the options of the query. */
bool data_make(struct page_request *q, struct str name, struct buf *out,
               struct error *err);

/* The same gzipped.  Constant data are kept, and made once for a version. */
bool data_make_packed(struct page_request *q, struct str name, struct buf *out,
                      struct error *err);

#endif
