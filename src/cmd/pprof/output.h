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
    bool in_shell;      /* a person waits: pictures do not go to stdout */
    bool piped;         /* but here they may: stdout is another program */
    const char *viewed; /* a file for the viewer, the caller's to remove;
                           NULL: one that is removed when it was shown */
};

/*
 * Makes the report and delivers it.  The profile is used up.  When it fails
 * nothing was written anywhere, but for the first part of a long one (traces,
 * folded, raw) that goes to stdout.
 */
bool output_report(struct profile *p, const struct output_request *request,
                   struct error *err);

#endif
