/*
 * The page's form is that of Go's: tools find the profiles by its links.
 */
#include "runtime/endpoint/endpoint_index.h"

#include <inttypes.h>
#include <string.h>

#include "base/html.h"
#include "runtime/write/custom.h"
#include "runtime/profiles.h"

struct row {
    const char *name, *description;
    uint64_t count;
    const char *off; /* how to enable it; NULL: it is enabled */
};

/* What is served besides snapshots. */
static const struct row others[] = {
    {"cmdline",
     "The command line of the program, with arguments separated by NUL bytes.",
     0, NULL},
    {"profile",
     "CPU profile, measured for the time in the seconds parameter (30 by "
     "default). Open it with pprof.",
     0, NULL},
    {"symbol",
     "Maps the program addresses in the query or in the body of a POST to "
     "function names.",
     0, NULL},
    {"trace",
     "Timeline of the threads on each CPU, recorded for the time in the "
     "seconds parameter (1 by default), as JSON for Perfetto or Chrome. Not "
     "the format of Go's execution tracer.",
     0, NULL},
    {"wall",
     "Wall-clock profile of all threads, running or waiting, sampled hz times "
     "a second (50 by default) for the time in the seconds parameter (30 by "
     "default). Samples have a label for the state.",
     0, NULL},
};

#define MAX_ROWS 64

/* Into its place by name. */
static size_t insert(struct row *rows, size_t n, struct row row)
{
    size_t at = n;

    if (n == MAX_ROWS)
        return n;
    for (; at > 0 && strcmp(rows[at - 1].name, row.name) > 0; at--)
        rows[at] = rows[at - 1];
    rows[at] = row;
    return n + 1;
}

static struct row row_of(const struct profile_kind *k)
{
    return (struct row){k->name, k->description, profiles_count(k),
                        k->switched_off ? k->switched_off() : NULL};
}

static size_t collect(struct row *rows)
{
    const struct profile_kind *k;
    size_t n = 0;

    for (k = profiles_all(); k->name; k++)
        n = insert(rows, n, row_of(k));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        n = insert(rows, n, others[i]);
    for (size_t i = 0; (k = custom_at(i)) != NULL; i++)
        n = insert(rows, n, row_of(k));
    return n;
}

/* Names may be the program's own. */
static void add_text(struct buf *out, const char *text)
{
    buf_add_html(out, str_from(text));
}

void endpoint_write_index(struct buf *out)
{
    struct row rows[MAX_ROWS];
    size_t n = collect(rows);

    buf_add(out, STR("<html>\n<head>\n<title>/debug/pprof/</title>\n<style>\n"
                     ".profile-name { display: inline-block; width: 8rem; }\n"
                     "</style>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
                     "<p>Add debug=1 to a link to read a profile as text.</p>\n"
                     "Profiles:\n<table>\n"
                     "<thead><td>Count</td><td>Profile</td></thead>\n"));
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, "<tr><td>%" PRIu64 "</td><td><a href='", rows[i].count);
        add_text(out, rows[i].name);
        buf_add(out, STR("?debug=1'>"));
        add_text(out, rows[i].name);
        buf_add(out, STR("</a></td></tr>\n"));
    }
    buf_add(
        out,
        STR("</table>\n<a href=\"goroutine?debug=2\">all threads with their "
            "stacks</a>\n<br>\n<p>Profile descriptions:</p>\n<ul>\n"));
    for (size_t i = 0; i < n; i++) {
        buf_add(out, STR("<li><div class=profile-name>"));
        add_text(out, rows[i].name);
        buf_add(out, STR(":</div> "));
        add_text(out, rows[i].description);
        if (rows[i].off) {
            buf_add(out, STR(" <b>Off</b>: "));
            add_text(out, rows[i].off);
            buf_add_char(out, '.');
        }
        buf_add(out, STR("</li>\n"));
    }
    buf_add(out, STR("</ul>\n</body>\n</html>\n"));
}
