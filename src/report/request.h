#ifndef REPORT_REQUEST_H
#define REPORT_REQUEST_H

#include "base/buf.h"
#include "base/error.h"
#include "report/config.h"

/*
 * A request to report_write() (report/report.h).
 */
enum report_format {
    REPORT_CALLGRIND,
    REPORT_COMMENTS,
    REPORT_DISASM,
    REPORT_DOT,
    REPORT_EXPLAIN,
    REPORT_FLAME,
    REPORT_FOLDED,
    REPORT_JSON,
    REPORT_LIST,
    REPORT_MARKDOWN,
    REPORT_PEEK,
    REPORT_PROTO,
    REPORT_RAW,
    REPORT_SPEEDSCOPE,
    REPORT_TAGS,
    REPORT_TEXT,
    REPORT_TOPPROTO,
    REPORT_TRACES,
    REPORT_TREE,
    REPORT_WEBLIST,
};

struct objects; /* symbol/objects.h: binaries, for reports on code */
struct report;  /* report/context.h: a report that is ready to be written */

/* Appends a report to `out`; what is there when it fails is thrown away. */
typedef bool report_body(struct report *r, struct buf *out, struct error *err);

struct report_request {
    enum report_format format;
    report_body *body;   /* writes it instead of the format's own writer; the
                            options mean what they mean for the format */
    struct str argument; /* regexp of list, peek, disasm, weblist */
    const struct report_config *config;
    const struct report_config *also; /* their filters are applied as well: a
                                         sample must pass all of them */
    size_t n_also;
    const struct objects *objects; /* NULL: none can be opened */
    struct buf *aside;     /* lines for stdout before the report, also when it
                              fails (binaries that cannot be opened); or NULL */
    int default_nodecount; /* of tables (text, json, markdown) for nodecount
                              -1: 0 means all, the shell wants 10 */
    int columns;           /* width for terminal pictures, 0 = no terminal */
    bool colour;           /* terminal colours wanted */
    bool true_colour;      /* the terminal has more than 256 */

    /* Takes the first part of a report that is long (traces, folded, raw),
     * so that it is never in memory as a whole: `out` goes on behind it.
     * All warnings are there by then.  NULL: everything stays in `out`. */
    bool (*drain)(void *arg, struct str bytes, struct error *err);
    void *drain_arg;
};

#endif
