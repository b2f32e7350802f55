#ifndef CMD_PPROF_COMMAND_H
#define CMD_PPROF_COMMAND_H

#include "base/str.h"
#include "report/report.h"

/*
 * The reports by name: each is a flag (-top), a command of the shell (top),
 * and says how its report becomes bytes and where they go.
 */

enum command_usage {
    USAGE_NONE,
    USAGE_REPORT, /* n, focus, ignore; maybe -cum, maybe >f */
    USAGE_CODE,   /* function or address, focus, ignore; maybe >f */
    USAGE_PEEK,
    USAGE_TAGS,
};

struct command {
    const char *name;
    enum report_format format;
    const char *graphviz;  /* "svg": the report is drawn by dot -Tsvg */
    const char *extension; /* of a file for a terminal's user; NULL: text */
    const char *viewer;    /* "eog", "gv --noantialias"; "" is a browser */
    bool has_argument;
    bool ours; /* google/pprof has no such report */
    enum command_usage usage;
    bool usage_cum, usage_file;
    const char *description;
    bool is_page; /* not a report but the page, as one file */
};

/* Sorted by name. */
extern const struct command commands[];
extern const size_t n_commands;

/* NULL if there is none. */
const struct command *command_find(struct str name);

/* Appends the lines that "help NAME" shows. */
void command_help(const struct command *c, struct buf *out);

#endif
