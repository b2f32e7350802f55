#ifndef BASE_FILE_VERSION_H
#define BASE_FILE_VERSION_H

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/*
 * How a file looks from outside, to see whether it has been changed or
 * replaced.  Two stamps compare with memcmp; a file that is not there (or
 * NULL) has a stamp of zeros.
 */
struct file_version {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds;
};

static inline struct file_version file_version_of(const char *path)
{
    struct stat st;

    if (!path || stat(path, &st) != 0)
        return (struct file_version){0};
    return (struct file_version){st.st_dev, st.st_ino, (uint64_t)st.st_size,
                                 st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
}

#endif
