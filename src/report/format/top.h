#ifndef REPORT_FORMAT_TOP_H
#define REPORT_FORMAT_TOP_H

#include "report/context.h"
#include "report/frame.h"
#include "report/header.h"

/*
 * The table of the costliest nodes: what -top prints, and every other format
 * that shows the same table.
 */
enum top_inlined {
    TOP_NOT_INLINED,
    TOP_PARTLY_INLINED, /* into some of its callers */
    TOP_INLINED,        /* into all of them */
};

struct top_row {
    struct str name;    /* as printed */
    struct frame frame; /* the same in parts */
    int64_t flat, cum;
    enum top_inlined inlined;
};

struct top_table {
    struct top_row *rows; /* in the report's arena */
    size_t n;
    struct header_counts counts;
};

/* Also chooses the report's output unit, if that was left open. */
void top_make(struct top_table *t, struct report *r);

#endif
