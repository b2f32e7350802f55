#ifndef CMD_PPROF_RUN_OPTIONS_H
#define CMD_PPROF_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The command line of pprof-run.
 *
 * Nearly every flag is a variable of the environment, which libpprof reads in
 * the program (runtime/hook/env.h), so flags are simply put there.  What only
 * pprof-run itself needs is in the struct.
 */
struct run_options {
    bool merge;      /* one file for all processes */
    bool wants_help; /* -h */
    bool wants_version;
    int program; /* the index of the program's name in argv */
};

/* Puts the flags of argv into the environment.  False: an unknown flag, or a
 * value that is missing. */
bool run_options_read(struct run_options *o, int argc, char **argv,
                      struct error *err);

/* Makes file names absolute, so that they mean the same when the program, or
 * one of its children, is in another directory.  False: out of memory, or
 * there is no current directory. */
bool run_options_resolve_files(struct error *err);

/* Refuses values that libpprof could only report when the program has ended:
 * numbers out of range, unknown signals, files that cannot be written, an
 * address that may not be served.  Call it after resolve_files. */
bool run_options_check(const struct run_options *o, struct error *err);

/* Returns true if the environment asks for any profile. */
bool run_options_measure(void);

/* The variables of the files that profiles of the whole run go to; ends with
 * NULL. */
extern const char *const run_options_files[];

extern const char run_options_usage[];

#endif
