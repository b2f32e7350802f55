#ifndef CMD_PPROF_OUTPUT_H
#define CMD_PPROF_OUTPUT_H

#include "cmd/pprof/command.h"
#include "profile/profile.h"
#include "report/config.h"

/*
 * From a command to its report, and from the report to where it belongs: a
 * file, stdout, a picture, a viewer.
 */
struct output_request {
    const struct command *command;
    struct str argument;
    const struct report_config *config;
    struct str tools;   /* where objdump is: the -tools flag */
    bool in_shell;      /* interactive: pictures do not go to stdout */
    bool piped;         /* except here: stdout is a pipe to another program */
    const char *viewed; /* a file for the viewer, which the caller removes;
                           NULL: one that is removed after it was shown */
};

/*
 * Makes the report and delivers it.  The profile is consumed.  On failure
 * nothing has been written, except for the first part of a long report (traces,
 * folded, raw) to stdout.
 */
bool output_report(struct profile *p, const struct output_request *request,
                   struct error *err);

#endif
