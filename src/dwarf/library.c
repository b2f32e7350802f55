#include "dwarf/library.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/resolve.h"
#include "elf/elf_file.h"
#include "elf/view.h"

/* Only a file of the very build: its descriptor, or -1. */
static int open_build(const char *path, const struct pprof_symbol_question *q)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint8_t id[ELF_BUILD_ID_MAX];
    struct elf_file f;
    bool same;

    if (fd < 0)
        return -1;
    same = elf_file_open(&f, fd);
    if (same) {
        same = elf_file_build_id(&f, id, sizeof(id)) == q->build_id_n &&
               memcmp(id, q->build_id, q->build_id_n) == 0;
        elf_file_release(&f);
    }
    if (same)
        return fd;
    close(fd);
    return -1;
}

static bool ask(const char *path, const struct pprof_symbol_question *q)
{
    int fd = open_build(path, q);
    struct dwarf *d = fd < 0 ? NULL : dwarf_open(fd, path, q->memory);

    if (d) {
        dwarf_resolve(d, q->addresses, q->n, q->found, q->arg);
        *q->left_out |= dwarf_left_out(d);
    }
    dwarf_free(d);
    if (fd >= 0)
        close(fd);
    return d != NULL;
}

/* Where Debian and Fedora install debug files. */
static void installed_path(char *out, size_t n,
                           const struct pprof_symbol_question *q)
{
    int at = snprintf(out, n, "/usr/lib/debug/.build-id/%02x/", q->build_id[0]);

    for (size_t i = 1; i < q->build_id_n; i++)
        at += snprintf(out + at, n - (size_t)at, "%02x", q->build_id[i]);
    snprintf(out + at, n - (size_t)at, ".debug");
}

__attribute__((visibility("default"))) bool
pprof_symbol_resolve(const struct pprof_symbol_question *q)
{
    char path[64 + 2 * ELF_BUILD_ID_MAX];

    if (q->size < sizeof(*q) || q->build_id_n < 2 ||
        q->build_id_n > ELF_BUILD_ID_MAX)
        return false;
    if (ask(q->path, q))
        return true;
    installed_path(path, sizeof(path), q);
    return ask(path, q);
}
