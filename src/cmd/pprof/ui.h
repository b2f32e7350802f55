#ifndef CMD_PPROF_UI_H
#define CMD_PPROF_UI_H

#include <stdbool.h>

#include "base/str.h"

/*
 * What pprof says to its user, on stderr: a line each.
 */
void ui_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for bad news: red on a terminal. */
void ui_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Text that has its line ends already. */
void ui_write(struct str text);

/* May stdout or stderr (1 or 2) get colours?  Only a terminal, and NO_COLOR
 * forbids it. */
bool ui_colour(int fd);

/* More of them than 256? */
bool ui_true_colour(void);

/* The width of the terminal that fd is; 0 if it is none. */
int ui_columns(int fd);

#endif
