#ifndef RUNTIME_HOOK_SETTINGS_H
#define RUNTIME_HOOK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * What can be wrong with PPROF_ variables by themselves.  pprof-run refuses
 * it; where the library is preloaded by other means it says so (env.c).
 */

/* Settings that are numbers, and pprof-run's options for them. */
struct setting_number {
    const char *flag, *variable;
    uint64_t min, max;
};
extern const struct setting_number setting_numbers[];
extern const size_t setting_numbers_n;

/* Is the value out of range?  Unset and empty are fine. */
bool setting_is_bad(const struct setting_number *s);

/* A setting that is switched on by 1 and has another value: err says so.
 * True: there is none. */
bool setting_switches_check(struct error *err);

/* Is it the name of a source of CPU samples?  NULL and "": yes. */
bool setting_is_source(const char *value);

/* A variable that is nearly called like a setting, of an environment; *known
 * is the setting.  NULL: there is none. */
const char *setting_misspelt(char *const *environment, const char **known);

#endif
