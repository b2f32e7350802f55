#include "fetch/perf_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

bool perf_data_detect(const char *path)
{
    static const char magic[8] = "PERFILE2";
    char head[sizeof(magic)];
    struct stat st;
    int fd;

    /* Opening a pipe and closing it again would end its writer. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return false;
    ssize_t n = read(fd, head, sizeof(head));
    close(fd);
    return n == sizeof(head) && memcmp(head, magic, sizeof(head)) == 0;
}

static bool convert(const char *path, char *to, struct error *err)
{
    char *argv[] = {(char[]){"perf_to_profile"},
                    (char[]){"-i"},
                    (char *)path,
                    (char[]){"-o"},
                    to,
                    (char[]){"-f"},
                    NULL};
    pid_t pid;

    return (process_start(argv, &pid, err) && process_wait(pid, err)) ||
           error_wrap(err, "failed to convert perf.data file. Try "
                           "github.com/google/perf_data_converter");
}

struct profile *perf_data_read(const char *path,
                               const struct profile_limits *limits,
                               struct error *err)
{
    const char *directory = getenv("TMPDIR");
    struct arena *a = arena_new();
    struct profile *p = NULL;
    char *to = arena_printf(a, "%s/pprof_XXXXXX.pb.gz",
                            directory && *directory ? directory : "/tmp");
    int fd = mkstemps(to, (int)strlen(".pb.gz"));

    if (fd < 0) {
        error_set_os(err, "open", to, errno);
    } else {
        close(fd);
        if (convert(path, to, err))
            p = profile_read_file(to, limits, err);
        unlink(to);
    }
    arena_free(a);
    return p;
}
