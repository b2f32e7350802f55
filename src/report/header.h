#ifndef REPORT_HEADER_H
#define REPORT_HEADER_H

#include "report/context.h"

/*
 * The lines above a report.  Profile lines (File, Type, Time, Duration)
 * describe what was measured; the others say which part of it is shown.
 *
 * A line may contain newlines: comments are printed as they are.
 */
struct header_lines {
    VEC(struct str) lines;
};

/* What a trimmed graph shows. */
struct header_counts {
    size_t shown;         /* nodes */
    size_t candidates;    /* before nodecount chose among them */
    size_t dropped_nodes; /* too light */
    size_t dropped_edges; /* the same */
    int64_t flat_sum;     /* of the nodes shown */
};

/* Adds the profile lines. */
void header_add_profile(struct header_lines *h, const struct report *r);

/* Adds "Active filters:", "Showing nodes accounting for …" and so on. */
void header_add_graph(struct header_lines *h, const struct report *r,
                      const struct header_counts *counts);

/* Appends the lines, each with a newline. */
void header_print(const struct header_lines *h, struct buf *out);

#endif
