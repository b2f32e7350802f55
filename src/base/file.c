#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP ((size_t)256 << 10)

/* More of the file, at most n bytes; into the buffer, or past its limit. */
static ssize_t read_more(int fd, struct buf *out, size_t n)
{
    char past[1], *to = past;
    ssize_t got;

    if (n == 0)
        n = sizeof(past);
    else
        to = buf_reserve(out, n);
    if (!to) {
        errno = ENOMEM;
        return -1;
    }
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

bool file_read_fd(int fd, const char *name, struct buf *out, struct error *err)
{
    struct stat st;
    size_t step = READ_STEP;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        step = (size_t)st.st_size + 1; /* one byte more, to see the end */
    for (;;) {
        size_t room = out->max - out->len;
        ssize_t n = read_more(fd, out, step < room ? step : room);

        if (n < 0)
            return error_set_os(err, "read", name, errno);
        if (n == 0)
            return true;
        if (room == 0)
            return error_set(err, "read %s: larger than the limit of %zu bytes",
                             name, out->max);
        out->len += (size_t)n;
        step = READ_STEP;
    }
}

bool file_read(const char *path, struct buf *out, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return error_set_os(err, "open", path, errno);
    ok = file_read_fd(fd, path, out, err);
    close(fd);
    return ok;
}

bool file_write_fd(int fd, const char *name, struct str bytes,
                   struct error *err)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.s, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_os(err, "write", name, errno);
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

static bool write_in_place(const char *path, struct str bytes,
                           struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok;

    if (fd < 0)
        return error_set_os(err, "open", path, errno);
    ok = file_write_fd(fd, path, bytes, err);
    if (close(fd) != 0 && ok)
        return error_set_os(err, "close", path, errno);
    return ok;
}

static mode_t mode_for_new_files(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

bool file_write(const char *path, struct str bytes, struct error *err)
{
    struct stat st;
    struct buf tmp = BUF_INIT(BUF_NO_LIMIT);
    bool exists = lstat(path, &st) == 0;
    bool ok = false;
    int fd;

    /* A link is followed by opening it; a rename would replace it. */
    if (exists && !S_ISREG(st.st_mode))
        return write_in_place(path, bytes, err);
    buf_addf(&tmp, "%s.XXXXXX", path);
    buf_add_char(&tmp, '\0');
    if (!buf_ok(&tmp)) {
        error_set_os(err, "open", path, ENOMEM);
        goto out;
    }
    fd = mkostemp(tmp.data, O_CLOEXEC);
    if (fd < 0) {
        error_set_os(err, "open", path, errno);
        goto out;
    }
    ok = file_write_fd(fd, path, bytes, err);
    if (ok && fchmod(fd, exists ? st.st_mode & 07777 : mode_for_new_files()))
        ok = error_set_os(err, "chmod", path, errno);
    if (close(fd) != 0 && ok)
        ok = error_set_os(err, "close", path, errno);
    if (ok && rename(tmp.data, path) != 0)
        ok = error_set_os(err, "rename", path, errno);
    if (!ok)
        unlink(tmp.data);
out:
    buf_release(&tmp);
    return ok;
}
