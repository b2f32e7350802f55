#ifndef RUNTIME_SAY_H
#define RUNTIME_SAY_H

#include "base/str.h"

/*
 * All messages of libpprof to the stderr of its program: the endpoint's URL,
 * the audit log, profiles that could not be taken.
 *
 * The program may have closed its stderr, and the number 2 may be another
 * file's by now.  After say_begin() only the stderr of that moment is written
 * to, or a log that is appended to.  If the program has closed it (as GNU's
 * tools do when they exit), a terminal or a file is opened once more; a pipe
 * cannot be.  A pipe that nobody reads raises no SIGPIPE.
 */
void say_begin(void);
void say_line(struct str line);

/* "pprof: NAME (pid N): WORDS\n", with the program's name and process id. */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The program's file name, without its directory. */
const char *say_program(void);

#endif
