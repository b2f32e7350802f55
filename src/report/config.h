#ifndef REPORT_CONFIG_H
#define REPORT_CONFIG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
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
    int nodecount; /* -1: the default of the format */
    double nodefraction, edgefraction;
    bool trim;
    struct str focus, ignore, prune_from, hide, show, show_from;
    struct str tagfocus, tagignore, tagshow, taghide;
    bool noinlines;
    bool showcolumns;
    struct str granularity; /* "" (functions), "filefunctions", "files", … */
};

enum config_kind {
    CONFIG_BOOL,
    CONFIG_INT,
    CONFIG_FLOAT,
    CONFIG_TEXT,
};

struct config_field {
    const char *name;
    const char *param; /* its word in a URL's query; NULL if it has none */
    enum config_kind kind;
    size_t offset; /* in struct report_config */
    bool saved;    /* a part of configurations that the page keeps */
    const char *const *choices; /* the values of a group, then NULL */
};

/* In the order of struct report_config. */
extern const struct config_field config_fields[];
extern const size_t config_n_fields;

/* The defaults. */
void config_init(struct report_config *c);

/* The field of an option ("focus") or of a choice ("cum"); NULL if none. */
const struct config_field *config_find(struct str name);

/* Where a field lives: a bool, int, double or struct str, by its kind. */
void *config_at(struct report_config *c, const struct config_field *f);

/*
 * Sets a field from what a user wrote in the shell or a URL:
 *     illegal value "x" for bool variable
 *     invalid "sort" value "x"
 *     strconv.Atoi: parsing "x": invalid syntax
 * Texts are copied to the arena.
 */
bool config_set(struct report_config *c, struct arena *a,
                const struct config_field *f, struct str value,
                struct error *err);

/*
 * The same by name.  A choice is a name, too: cum=true means sort=cum.  As in
 * google/pprof, any other value of it is an unknown config field.
 */
bool config_set_name(struct report_config *c, struct arena *a, struct str name,
                     struct str value, struct error *err);

/* The same by the word in a query.  An empty value and an unknown word change
 * nothing. */
bool config_set_param(struct report_config *c, struct arena *a,
                      struct str param, struct str value, struct error *err);

/* Appends the value in the form that config_set accepts. */
void config_get(const struct report_config *c, const struct config_field *f,
                struct buf *out);

/*
 * The help text of an option or a choice: a first line that can stand alone,
 * then optional further lines.  Empty if there is no such name.
 */
struct str config_help(struct str name);

#endif
