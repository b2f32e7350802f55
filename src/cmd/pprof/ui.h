#ifndef CMD_PPROF_UI_H
#define CMD_PPROF_UI_H

#include <stdbool.h>

#include "base/str.h"

/*
 * What pprof says to its user, on stderr: a line each.
 */
void ui_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for errors: red on a terminal. */
void ui_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Text that already has its line ends. */
void ui_write(struct str text);

/* Returns true if stdout or stderr (1 or 2) may get colours: it is a terminal,
 * and NO_COLOR is not set. */
bool ui_colour(int fd);

/* More of them than 256? */
bool ui_true_colour(void);

/* The width of the terminal fd; 0 if fd is not a terminal. */
int ui_columns(int fd);

#endif
