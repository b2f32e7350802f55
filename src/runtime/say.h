#ifndef RUNTIME_SAY_H
#define RUNTIME_SAY_H

#include "base/str.h"

/*
 * Lines on the program's stderr: where the endpoint is, who took a profile.
 *
 * The program may have closed it, and its number may be another file's by
 * now: after say_begin() only the stderr of that moment is written to, or a
 * log that is appended to.  A pipe that nobody reads raises no SIGPIPE.
 */
void say_begin(void);
void say_line(struct str line);

#endif
