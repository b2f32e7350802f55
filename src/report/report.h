#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/buf.h"
#include "profile/profile.h"
#include "report/config.h"

/*
 * From a profile to the bytes of a report.  The terminal, the shell and the
 * page all come through here, so their numbers can never differ.
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
    const struct objects *objects; /* NULL: none can be opened */
    struct buf *aside;     /* lines for stdout before the report, also when it
                              fails (binaries that cannot be opened); or NULL */
    int default_nodecount; /* of tables (text, json, markdown) for nodecount
                              -1: 0 means all, the shell wants 10 */
    int columns;           /* width for terminal pictures, 0 = no terminal */
    bool colour;           /* terminal colours wanted */
    bool true_colour;      /* the terminal has more than 256 */
};

/*
 * Appends the report to `out`.  Warnings ("Focus expression matched no
 * samples") are appended to `warnings`, a line each, also when it fails; the
 * caller shows them on stderr first.
 *
 * The profile is used up: it is filtered and aggregated in place.  Whoever
 * needs it again passes profile_copy().
 */
bool report_write(struct profile *p, const struct report_request *request,
                  struct buf *out, struct buf *warnings, struct error *err);

/*
 * The lines that describe a profile (File, Type, Time, Duration …), each
 * with a newline: the greeting of the shell.  Warnings (about units of
 * labels) as in report_write.
 */
bool report_describe(const struct profile *p,
                     const struct report_config *config, struct buf *out,
                     struct buf *warnings, struct error *err);

/* The sum of the selected value (what the reports call total). */
bool report_selected_total(const struct profile *p,
                           const struct report_config *config, int64_t *out,
                           struct error *err);

/* The index of the value that sample_index selects ("" is the default). */
bool report_sample_index(const struct profile *p, struct str name, size_t *out,
                         struct error *err);

#endif
