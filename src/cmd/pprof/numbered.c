#include "cmd/pprof/numbered.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MOST_FILES 9999

const char *numbered_file(struct arena *a, const char *prefix,
                          const char *suffix, mode_t mode, struct error *err)
{
    for (int i = 1; i <= MOST_FILES; i++) {
        char *path = arena_printf(a, "%s%03d%s", prefix, i, suffix);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

        if (fd >= 0) {
            close(fd);
            return path;
        }
        if (errno != EEXIST) {
            error_set_os(err, "open", path, errno);
            return NULL;
        }
    }
    error_set(err, "could not create file of the form %s%03d%s", prefix, 1,
              suffix);
    return NULL;
}
