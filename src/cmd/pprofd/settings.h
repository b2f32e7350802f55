#ifndef CMD_PPROFD_SETTINGS_H
#define CMD_PPROFD_SETTINGS_H

#include "cmd/pprofd/settings_table.h"

/*
 * Reads words[0..n), the arguments of a command, and the file that --config
 * names.  *rest is the number of words used up.  Texts are from the arena.
 */
bool settings_read(struct settings *out, struct arena *a, char *const *words,
                   int n, int *rest, struct error *err);

/* The file that --config named; NULL: none. */
const char *settings_file_name(char *const *words, int n);

/* The settings as a configuration file with comments. */
void settings_write(const struct settings *s, struct buf *out);

/* Returns true if authentication is enabled. */
bool settings_have_guard(const struct settings *s);

#endif
