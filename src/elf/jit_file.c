/*
 * Finding and reading the files with names of generated code.  They lie where
 * everybody may write, so only what this user or root wrote is believed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/jit_map.h"

/* -1: it is not there, or not to be trusted. */
static int open_own(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (st.st_uid == geteuid() || st.st_uid == 0)) {
        *size = (size_t)st.st_size;
        return fd;
    }
    close(fd);
    return -1;
}

static bool read_text(struct jit_map *m, const char *path)
{
    size_t n;
    int fd = open_own(path, &n);
    char *text = NULL;
    bool ok = false;

    if (fd < 0)
        return false;
    if (n > 0 && n <= JIT_MAX_MAP_BYTES)
        text = pages_alloc(n);
    if (text && elf_read_at(fd, text, n, 0))
        ok = jit_map_add_text(m, str_of(text, n));
    pages_free(text, n);
    close(fd);
    return ok;
}

static bool read_dump(struct jit_map *m, const char *path, uint32_t pid)
{
    size_t n;
    int fd = open_own(path, &n);
    bool ok;

    if (fd < 0)
        return false;
    ok = jit_map_add_dump(m, &(struct elf_source){.fd = fd}, pid);
    close(fd);
    return ok;
}

bool jit_map_read(struct jit_map *m, const char *directory, uint32_t pid,
                  const char *dump_path)
{
    char map_path[256], usual[256];
    bool ok;

    snprintf(map_path, sizeof(map_path), "%s/perf-%u.map", directory, pid);
    snprintf(usual, sizeof(usual), "%s/jit-%u.dump", directory, pid);
    ok = read_text(m, map_path);
    return read_dump(m, dump_path ? dump_path : usual, pid) || ok;
}

bool jit_is_dump_path(struct str path, uint32_t pid)
{
    char name[32];
    int n = snprintf(name, sizeof(name), "/jit-%u.dump", pid);

    return str_has_suffix(path, str_of(name, (size_t)n));
}
