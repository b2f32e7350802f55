#include "elf/read.h"

#include <errno.h>
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
