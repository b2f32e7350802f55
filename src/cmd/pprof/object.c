#include "cmd/pprof/object.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Mach-O in both word sizes and byte orders, and for several machines. */
static bool is_mach_o(uint32_t magic)
{
    return magic == 0xfeedface || magic == 0xfeedfacf || magic == 0xcefaedfe ||
           magic == 0xcffaedfe || magic == 0xcafebabe || magic == 0xbebafeca;
}

bool object_file_can_open(const char *path)
{
    unsigned char head[4];
    uint32_t magic;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool whole;

    if (fd < 0)
        return false;
    whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
            read(fd, head, sizeof(head)) == sizeof(head);
    close(fd);
    if (!whole)
        return false;
    memcpy(&magic, head, sizeof(magic));
    return memcmp(head, "\177ELF", 4) == 0 || memcmp(head, "MZ", 2) == 0 ||
           is_mach_o(magic);
}
