#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Other programs (dot, objdump, viewers).  Errors are worded as Go words them:
 *     exec: "dot": executable file not found in $PATH
 *     exit status 1
 */

/*
 * Runs a program to its end with `input` as its stdin and appends what it
 * prints to `out`.  Its stderr is ours.  Fails if it cannot be run or does
 * not end with exit code 0.
 */
bool process_filter(char *const *argv, struct str input, struct buf *out,
                    struct error *err);

/* Starts a program with no stdin; the caller waits for it, or not. */
bool process_start(char *const *argv, pid_t *out, struct error *err);

/* Waits for its end. */
bool process_wait(pid_t pid, struct error *err);

#endif
