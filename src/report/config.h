#ifndef REPORT_CONFIG_H
#define REPORT_CONFIG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * What a user can choose about a report.  The command line, the shell and
 * the page's query words all set these fields, through one table of names,
 * types and defaults, so that an option means the same everywhere.
 */
struct report_config {
    struct str output;
    bool call_tree;
    bool relative_percentages;
    struct str unit; /* "minimum" unless set */
    bool compact_labels;
    struct str source_path;
    struct str trim_path;
    bool intel_syntax;
    bool mean;
    struct str sample_index;
    double divide_by;
    bool normalize;
    struct str sort; /* "flat" or "cum" */
    struct str tagroot, tagleaf;
    bool drop_negative;
    int nodecount; /* -1: whatever suits the format */
    double nodefraction, edgefraction;
    bool trim;
    struct str focus, ignore, prune_from, hide, show, show_from;
    struct str tagfocus, tagignore, tagshow, taghide;
    bool noinlines;
    bool showcolumns;
    struct str granularity; /* "" (functions), "filefunctions", "files", … */
};

#endif
