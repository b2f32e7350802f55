#ifndef BASE_OWN_FD_H
#define BASE_OWN_FD_H

#include <stdbool.h>

/*
 * File descriptors that a library keeps open in somebody else's process.
 *
 * Daemons close all descriptors when they start, and shells put files at
 * numbers of their choice.  So ours are listed here, and have high numbers:
 * who wraps close() leaves those alone that own_fd_is_kept() knows.
 *
 *     own_fd_begin();
 *     fd = own_fd_keep(socket(…));        // or own_fd_note()
 *     …
 *     own_fd_close(fd);
 *
 * All of these are async-signal-safe.
 */

/* A descriptor is about to be opened: until it is listed, nobody closes all.
 */
void own_fd_begin(void);

/* Lists it, and gives it a high number; its number from now on.  -1 stays -1,
 * with its errno. */
int own_fd_keep(int fd);

/* Lists one that is needed for a short time, where it is. */
int own_fd_note(int fd);

/* Closes it; -1: nothing. */
void own_fd_close(int fd);

/* Takes one off the list that somebody else has closed; returns -1. */
int own_fd_lose(int fd);

/* Is it listed, by this process?  A forked child that has called
 * own_fds_after_fork() has none. */
bool own_fd_is_kept(int fd);

/* The first one that is listed, from `from` on; -1: none. */
int own_fd_next(int from);

/* For who closes others: waits until what is being opened is listed, and with
 * `hold` keeps more from being opened until own_fds_release().  Not for long:
 * the one who opens may be the thread that a handler has interrupted. */
void own_fds_settle(bool hold);
void own_fds_release(void);

/* High numbers are used from now on.  Before there are other threads: the
 * kernel makes them wait while it enlarges its table. */
void own_fds_reserve(void);

/* In a forked child, when what the parent kept is closed. */
void own_fds_after_fork(void);

#endif
