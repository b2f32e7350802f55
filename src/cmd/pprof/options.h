#ifndef CMD_PPROF_OPTIONS_H
#define CMD_PPROF_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "cmd/flags.h"
#include "cmd/pprof/command.h"
#include "report/config.h"

/*
 * What the command line asks for.  Texts are views of argv.
 */
struct options {
    struct report_config config;
    const struct command *command; /* NULL: the shell, or the page */
    struct str argument;           /* of the command */

    char *const *sources;
    size_t n_sources;
    struct str executable; /* "" if none was given */
    struct str base;       /* "" if there is none */
    bool base_is_diff;     /* -diff_base, not -base */
    bool mark_base;        /* its samples stay separate, with a label */
    /* Limits of growth, see gate.h: 0.05 for 5%; negative if not given. */
    double fail_above, fail_above_share;

    struct str symbolize;
    struct str buildid;
    struct str add_comment;
    struct str tools;
    int timeout, seconds; /* -1 if not given */
    bool all_frames;
    bool no_save;
    struct str tls_cert, tls_key, tls_ca, tls_server_name, token_file;
    struct flag_list headers;

    struct str http; /* where to serve the page; "" is nowhere */
    bool no_browser;
    struct str http_cert, http_key, http_client_ca; /* PEM files; or "" */
};

enum options_result {
    OPTIONS_OK,
    OPTIONS_HELP,      /* show the usage, that is all */
    OPTIONS_HELP_HINT, /* and say how to see the rest of it */
    OPTIONS_HELP_ALL,  /* with our own flags */
    OPTIONS_VERSION,
    OPTIONS_BAD_FLAG, /* say err, show the usage */
    OPTIONS_NOTHING,  /* show the usage, say err */
    OPTIONS_BAD,      /* say err */
};

/*
 * Reads argv[1..argc).  Warnings ("Multiple value selections, ignoring -X")
 * are appended to `warnings`, a line each.
 */
enum options_result options_parse(struct options *o, struct arena *a, int argc,
                                  char *const *argv, struct buf *warnings,
                                  struct error *err);

#endif
