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
 * renamed over it.  Anything that is not a regular file (a pipe, /dev/stdout)
 * is written directly.
 */
bool file_write(const char *path, struct str bytes, struct error *err);

/* The same for what other users must not read: mode 0600. */
bool file_write_private(const char *path, struct str bytes, struct error *err);

/*
 * The same in pieces, for content that should not be in memory as a whole.
 * `path` must live as long as the writer.  The caller must close it; if `ok` is
 * false, or closing fails, the file is unchanged.
 */
struct file_writer {
    const char *path;
    int fd;
    struct buf tmp; /* the temporary file's name; "" if there is none */
    bool has_mode;  /* else it has the one that it was created with */
    unsigned mode;  /* that the file shall have */
};

bool file_writer_open(struct file_writer *w, const char *path,
                      struct error *err);
bool file_writer_add(struct file_writer *w, struct str bytes,
                     struct error *err);
bool file_writer_close(struct file_writer *w, bool ok, struct error *err);

/* Writes all bytes to an fd, whatever short writes and EINTR occur. */
bool file_write_fd(int fd, const char *name, struct str bytes,
                   struct error *err);

/* Creates a directory and its missing parents. */
bool file_make_directory(const char *path, unsigned mode, struct error *err);

#endif
