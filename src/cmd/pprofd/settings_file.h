#ifndef CMD_PPROFD_SETTINGS_FILE_H
#define CMD_PPROFD_SETTINGS_FILE_H

#include "cmd/pprofd/settings_table.h"

/*
 * Reads a configuration file into `s`, replacing earlier values.  Errors name
 * the file, line and column, and suggest a correction.
 */
bool settings_read_file(struct settings *s, struct arena *a, const char *path,
                        struct error *err);

#endif
