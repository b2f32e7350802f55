/*
 * pread() until all bytes are there.  A file that ends early is an error, which
 * makes reading safe while the file is being replaced.
 */
#include "elf/read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool elf_read_at(int fd, void *out, size_t n, uint64_t offset)
{
    char *to = out;

    if (offset > INT64_MAX - n)
        return false;
    while (n) {
        ssize_t got = pread(fd, to, n, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

bool elf_source_read(const struct elf_source *s, void *out, size_t n,
                     uint64_t offset)
{
    if (!s->bytes)
        return elf_read_at(s->fd, out, n, offset);
    if (offset > s->n || n > s->n - offset)
        return false;
    memcpy(out, s->bytes + offset, n);
    return true;
}
