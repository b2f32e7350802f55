/*
 * Reads the few headers that decide it: of an ELF file the class, the machine
 * and whether there is an interpreter; of a script its first line.  All with
 * pread into the stack, because exec calls it where malloc is forbidden.
 */
#include "elf/preload_check.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_SCRIPTS 4 /* the kernel follows as many interpreters */
#define MAX_HEADERS 64

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* The kernel sets AT_SECURE then, and the loader ignores LD_PRELOAD. */
static const char *privileges(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return NULL;
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return "it is a set-uid program";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
        st.st_gid != getgid())
        return "it is a set-gid program";
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "it has file capabilities";
    return NULL;
}

#if defined(__GLIBC__)
#define OTHER_LOADER "/ld-musl-"
const char preload_other_libc[] =
    "it is linked with musl, and this libpprof-preload.so with glibc; build "
    "pprof-c with musl to profile it";
#else
#define OTHER_LOADER "/ld-linux-"
const char preload_other_libc[] =
    "it is linked with glibc, and this libpprof-preload.so with another C "
    "library; build pprof-c with glibc to profile it";
#endif

static const char *interpreter(int fd, const Elf64_Phdr *h)
{
    char path[PATH_MAX];
    size_t n = h->p_filesz < sizeof(path) - 1 ? h->p_filesz : sizeof(path) - 1;
    ssize_t got = pread(fd, path, n, (off_t)h->p_offset);

    path[got > 0 ? got : 0] = '\0';
    return strstr(path, OTHER_LOADER) ? preload_other_libc : NULL;
}

static const char *loader(int fd, const Elf64_Ehdr *head)
{
    for (unsigned i = 0; i < head->e_phnum && i < MAX_HEADERS; i++) {
        Elf64_Phdr h;
        off_t at = (off_t)(head->e_phoff + (Elf64_Off)i * sizeof(h));

        if (pread(fd, &h, sizeof(h), at) != (ssize_t)sizeof(h))
            return NULL; /* not known: let the kernel say it */
        if (h.p_type == PT_INTERP)
            return interpreter(fd, &h);
    }
    return "it is statically linked";
}

static const char *linking(int fd, const Elf64_Ehdr *head)
{
    if (head->e_ident[EI_CLASS] != ELFCLASS64)
        return "it is a 32-bit program";
    if (head->e_machine != OUR_MACHINE)
        return "it is a program for another processor";
    return loader(fd, head);
}

/* "#!/bin/sh -e": the path alone, in place. */
static bool find_interpreter(char *line, size_t n, const char **out)
{
    char *start;

    line[n] = '\0';
    start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t\r\n")] = '\0';
    *out = start;
    return *start != '\0';
}

const char *preload_obstacle(const char *path)
{
    char line[PATH_MAX];

    for (int i = 0; i < MAX_SCRIPTS; i++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const char *found = NULL;
        Elf64_Ehdr head;
        ssize_t n;

        if (fd < 0)
            return NULL;
        n = pread(fd, line, sizeof(line) - 1, 0);
        if (n >= (ssize_t)sizeof(head) && memcmp(line, ELFMAG, SELFMAG) == 0) {
            memcpy(&head, line, sizeof(head));
            found = linking(fd, &head);
            found = found ? found : privileges(fd);
        }
        close(fd);
        if (n < 3 || memcmp(line, "#!", 2) != 0 ||
            !find_interpreter(line, (size_t)n, &path))
            return found;
    }
    return NULL;
}
