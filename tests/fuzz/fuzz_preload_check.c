/*
 * Files of any content as programs: headers of ELF files that lie, first
 * lines of scripts.  A script that names this very file as its interpreter
 * is followed a few times, as by the kernel.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/preload_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("program", MFD_CLOEXEC);
    char path[32];

    if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        preload_obstacle(path);
    }
    if (fd >= 0)
        close(fd);
    return 0;
}
