#ifndef SYMBOL_DEBUG_FILE_H
#define SYMBOL_DEBUG_FILE_H

#include "base/arena.h"
#include "base/str.h"
#include "elf/elf_file.h"

/*
 * The separate file with the debug information of a stripped one: by build
 * id and by debuglink, where Debian, Fedora and gdb look for it; then, if
 * DEBUGINFOD_URLS is set, from the servers that it names, through
 * libdebuginfod.  Nothing is fetched from anywhere else.
 *
 * A file with another build id is never taken; one found by its name alone must
 * have the checksum in the link.
 */

/* Returns its file descriptor, the caller's to close, and its path; -1:
 * there is none. */
int debug_file_find(struct arena *a, const struct elf_file *elf,
                    const char *path, struct str build_id,
                    const char **path_out);

/* Returns true if the file has .debug_info. */
bool debug_file_is_one(const struct elf_file *elf);

/* The build id as hex digits, "" when there is none. */
struct str debug_file_build_id(struct arena *a, const struct elf_file *elf);

#endif
