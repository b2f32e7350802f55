#include "fetch/perf_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "perf/convert.h"

bool perf_data_detect(const char *path)
{
    char head[8];
    struct stat st;
    ssize_t n;
    int fd;

    /* Opening a pipe and closing it again would end its writer. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return false;
    n = read(fd, head, sizeof(head));
    close(fd);
    return n == sizeof(head) && perf_file_detect(str_of(head, sizeof(head)));
}

struct profile *perf_data_read(const char *path,
                               const struct profile_limits *limits,
                               struct error *err)
{
    struct buf bytes =
        BUF_INIT((limits ? limits : &profile_default_limits)->input_bytes);
    struct profile *p = NULL;

    if (file_read(path, &bytes, err))
        p = perf_convert(buf_str(&bytes), limits, err);
    buf_release(&bytes);
    return p;
}
