#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Whole files.  Errors read like Go's: "open x: permission denied".
 */

/* Appends all of it to `out`, whose max is the limit. */
bool file_read(const char *path, struct buf *out, struct error *err);
bool file_read_fd(int fd, const char *name, struct buf *out, struct error *err);

/*
 * Writes the file whole or not at all: into a temporary file beside it, then
 * renamed over it.  Anything that is not a plain file (a pipe, /dev/stdout)
 * is written directly.
 */
bool file_write(const char *path, struct str bytes, struct error *err);

/* All bytes to an fd, through short writes and EINTR. */
bool file_write_fd(int fd, const char *name, struct str bytes,
                   struct error *err);

#endif
