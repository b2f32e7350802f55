#ifndef DWARF_LINKED_FILES_H
#define DWARF_LINKED_FILES_H

#include "dwarf/unit.h"

/*
 * Debug information that lies in other files: split units (.dwo beside each
 * object file, or all of them in one .dwp) and what dwz has taken out of
 * several files (the alternate file).
 */
struct split_files {
    const char *path; /* of the binary */
    struct dwarf_file package, single;
    int package_fd, single_fd; /* -1: not open */
    bool looked_for_package;
    struct dwarf_unit unit; /* the one that split_unit gave last */
};

void split_files_init(struct split_files *s, const char *path);
void split_files_release(struct split_files *s,
                         struct dwarf_abbrev_cache *cache);

/* The split unit of a skeleton, or NULL.  It is valid until the next call. */
struct dwarf_unit *split_unit(struct split_files *s,
                              struct dwarf_abbrev_cache *cache,
                              const struct dwarf_unit *skeleton);

/* Closes the file of the last unit. */
void split_files_close(struct split_files *s, struct dwarf_abbrev_cache *cache);

/* Opens the file that .gnu_debugaltlink names, if its build id matches: a file
 * descriptor, or -1. */
int alternate_open(const struct elf_file *elf, const char *path,
                   struct dwarf_file *out, struct dwarf_work *work);
void alternate_close(struct dwarf_file *f, int fd);

#endif
