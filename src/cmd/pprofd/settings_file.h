#ifndef CMD_PPROFD_SETTINGS_FILE_H
#define CMD_PPROFD_SETTINGS_FILE_H

#include "cmd/pprofd/settings_table.h"

/*
 * Reads a configuration file into `s`, over what is there.  Errors have the
 * file, the line and the column, and suggest what was meant.
 */
bool settings_read_file(struct settings *s, struct arena *a, const char *path,
                        struct error *err);

#endif
