#ifndef BASE_FILE_VERSION_H
#define BASE_FILE_VERSION_H

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Detects whether a file has been changed or replaced, by its metadata.
 * Compare two versions with memcmp; that of a missing file (or NULL) is all
 * zeros.
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
