#ifndef CMD_PPROF_SHELL_LINE_H
#define CMD_PPROF_SHELL_LINE_H

#include "base/arena.h"
#include "base/error.h"
#include "cmd/pprof/command.h"
#include "profile/profile.h"
#include "report/config.h"

/*
 * What a line of the shell means.
 */

/* A report with the options that hold for this line only. */
struct shell_command {
    const struct command *command;
    struct str argument;
    struct report_config config;
    struct str pipe; /* the program that takes the report; "" if none */
};

/*
 * Words that stand for other lines: ":" clears filters, the name of a value
 * ("cpu", "mean_cpu", "total_cpu") selects it.  Gives up to SHELL_LINES
 * lines from `a`; a line that is no such word comes back as it is.
 */
#define SHELL_LINES 5
size_t shell_expand(struct arena *a, const struct profile *p, struct str line,
                    struct str lines[SHELL_LINES]);

/*
 * An assignment, "name=value" or "name"?  Then *is is set, and the option is
 * changed unless it fails.
 */
bool shell_assign(struct report_config *config, struct arena *a,
                  const struct profile *p, struct str line, bool *is,
                  struct error *err);

/*
 * "top10 focus -ignore -cum >file": the report that is asked for.  With
 * `pipes`, also "top | less".
 */
bool shell_parse(const struct report_config *config, struct arena *a,
                 struct str line, bool pipes, struct shell_command *out,
                 struct error *err);

/* Takes the next word off the front of *rest. */
bool shell_next_word(struct str *rest, struct str *word);

#endif
