/*
 * Whole files.  Writing goes to a temporary file that is renamed when it is
 * complete, so that readers never see half of one and a full disk leaves the
 * old file; links and devices are written in place.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP   ((size_t)256 << 10)
#define NAMES_TRIED 100 /* for a temporary file */

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
        /* A file that is as long as it said needs no more room. */
        step = out->cap > out->len ? out->cap - out->len : READ_STEP;
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

/*
 * A new file beside `path`, whose name goes to `name`.  The kernel applies the
 * umask when the file is created: it can only be read by changing it, and that
 * would be felt by every thread of the host program.
 */
static int open_beside(const char *path, mode_t mode, struct buf *name)
{
    int fd = -1;

    for (int i = 0; i < NAMES_TRIED && fd < 0; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return -1;
        buf_clear(name);
        buf_addf(name, "%s.%06llx", path,
                 (unsigned long long)(random & 0xffffff));
        if (!buf_ok(name))
            return -1;
        fd = open(buf_cstr(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static bool open_writer(struct file_writer *w, const char *path,
                        bool is_private, struct error *err)
{
    struct stat st;
    bool exists = lstat(path, &st) == 0;

    *w = (struct file_writer){.path = path, .tmp = BUF_INIT(PATH_MAX + 64)};
    /* A link is followed by opening it; a rename would replace it. */
    if (exists && !S_ISREG(st.st_mode)) {
        w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    } else {
        w->has_mode = exists || is_private;
        w->mode = is_private ? 0600 : st.st_mode & 07777;
        w->fd = open_beside(path, w->has_mode ? 0600 : 0666, &w->tmp);
    }
    if (w->fd >= 0)
        return true;
    error_set_os(err, "open", path, buf_ok(&w->tmp) ? errno : ENOMEM);
    buf_release(&w->tmp);
    return false;
}

bool file_writer_open(struct file_writer *w, const char *path,
                      struct error *err)
{
    return open_writer(w, path, false, err);
}

bool file_writer_add(struct file_writer *w, struct str bytes, struct error *err)
{
    return file_write_fd(w->fd, w->path, bytes, err);
}

bool file_writer_close(struct file_writer *w, bool ok, struct error *err)
{
    const char *tmp = w->tmp.len ? buf_cstr(&w->tmp) : NULL;

    if (ok && tmp && w->has_mode && fchmod(w->fd, w->mode) != 0)
        ok = error_set_os(err, "chmod", w->path, errno);
    if (close(w->fd) != 0 && ok)
        ok = error_set_os(err, "close", w->path, errno);
    if (ok && tmp && rename(tmp, w->path) != 0)
        ok = error_set_os(err, "rename", w->path, errno);
    if (!ok && tmp)
        unlink(tmp);
    buf_release(&w->tmp);
    return ok;
}

bool file_write(const char *path, struct str bytes, struct error *err)
{
    struct file_writer w;

    return file_writer_open(&w, path, err) &&
           file_writer_close(&w, file_writer_add(&w, bytes, err), err);
}

bool file_write_private(const char *path, struct str bytes, struct error *err)
{
    struct file_writer w;

    return open_writer(&w, path, true, err) &&
           file_writer_close(&w, file_writer_add(&w, bytes, err), err);
}

bool file_make_directory(const char *path, unsigned mode, struct error *err)
{
    char part[PATH_MAX];
    struct stat st;
    size_t n = 0;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    do {
        for (n += path[n] == '/'; path[n] && path[n] != '/';)
            n++;
        if (n >= sizeof(part))
            return error_set_os(err, "mkdir", path, ENAMETOOLONG);
        snprintf(part, sizeof(part), "%.*s", (int)n, path);
        if (mkdir(part, mode) != 0 && errno != EEXIST)
            return error_set_os(err, "mkdir", part, errno);
    } while (path[n]);
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return error_set_os(err, "mkdir", path, ENOTDIR);
    return true;
}
