#include "symbol/mini_debug_info.h"

#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.h"

/* Real ones are a few megabytes unpacked. */
#define MAX_PACKED   ((uint64_t)64 << 20)
#define MAX_UNPACKED ((uint64_t)256 << 20)
#define MAX_MEMORY   ((uint64_t)128 << 20) /* of the unpacker */

static bool write_all(int fd, const uint8_t *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool unpack(const uint8_t *bytes, size_t n, int fd)
{
    lzma_stream z = LZMA_STREAM_INIT;
    uint8_t out[65536];
    lzma_ret status = lzma_stream_decoder(&z, MAX_MEMORY, 0);
    bool ok = status == LZMA_OK;

    z.next_in = bytes;
    z.avail_in = n;
    while (ok && status == LZMA_OK) {
        z.next_out = out;
        z.avail_out = sizeof(out);
        status = lzma_code(&z, LZMA_FINISH);
        ok = (status == LZMA_OK || status == LZMA_STREAM_END) &&
             z.total_out <= MAX_UNPACKED &&
             write_all(fd, out, sizeof(out) - z.avail_out);
    }
    lzma_end(&z);
    return ok;
}

int mini_debug_info_open(const struct elf_file *elf)
{
    const Elf64_Shdr *s = elf_file_find(elf, ".gnu_debugdata");
    uint8_t *packed;
    int fd;

    if (!s || s->sh_size == 0 || s->sh_size > MAX_PACKED)
        return -1;
    packed = pages_alloc(s->sh_size);
    fd = packed ? memfd_create("debugdata", MFD_CLOEXEC) : -1;
    if (fd >= 0 && (!elf_read_at(elf->fd, packed, s->sh_size, s->sh_offset) ||
                    !unpack(packed, s->sh_size, fd))) {
        close(fd);
        fd = -1;
    }
    pages_free(packed, s->sh_size);
    return fd;
}
