#ifndef BASE_OWN_FD_H
#define BASE_OWN_FD_H

#include <stdbool.h>

/*
 * File descriptors that a library keeps open in somebody else's process.
 *
 * Daemons close all descriptors when they start, and shells open files at
 * numbers of their choice.  So ours are listed here and have high numbers.  The
 * wrapper of close() skips those for which own_fd_is_kept() is true.
 *
 *     own_fd_begin();
 *     fd = own_fd_keep(socket(…));        // or own_fd_note()
 *     …
 *     own_fd_close(fd);
 *
 * All of these are async-signal-safe.
 */

/* Call it before a descriptor is opened.  Until the descriptor is listed, calls
 * that close all of them wait. */
void own_fd_begin(void);

/* Moves it to a high number, lists it and returns the new number.  Returns -1
 * for -1, and keeps errno. */
int own_fd_keep(int fd);

/* Lists one that is needed for a short time, without moving it. */
int own_fd_note(int fd);

/* Closes it and takes it off the list.  Does nothing for -1. */
void own_fd_close(int fd);

/* Takes one off the list that the program has closed; returns -1. */
int own_fd_lose(int fd);

/* Returns true if this process has listed it.  The list is empty in a forked
 * child that has called own_fds_after_fork(). */
bool own_fd_is_kept(int fd);

/* The first listed number that is not below `from`, or -1. */
int own_fd_next(int from);

/* For wrappers that close descriptors: waits until those that are being opened
 * are listed.  With `hold`, no more are opened until own_fds_release().  The
 * wait is bounded, because a signal handler may have interrupted the thread
 * that opens one. */
void own_fds_settle(bool hold);
void own_fds_release(void);

/* From now on own_fd_keep() uses high numbers.  Call it before other threads
 * start: they would have to wait while the kernel enlarges its table. */
void own_fds_reserve(void);

/* Call it in a forked child after closing the parent's descriptors. */
void own_fds_after_fork(void);

#endif
