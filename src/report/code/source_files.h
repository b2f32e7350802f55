#ifndef REPORT_CODE_SOURCE_FILES_H
#define REPORT_CODE_SOURCE_FILES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * Source files, found by the names that profiles have for them and read
 * once.
 *
 * A name is trimmed first (see path_trim.h).  If it is absolute then, it is
 * opened as it is, else looked for in each directory of source_path (the
 * current directory when that is empty) and in all parents of these.  A file
 * that is not found there is searched where Go keeps its own sources: the
 * standard library under $GOROOT or beside the go command, and modules in the
 * module cache, also by the names that a build with -trimpath leaves behind.
 */
struct source_file {
    struct str name;       /* as the profile has it */
    VEC(struct str) lines; /* without line ends */
    struct str error;      /* why it could not be opened; empty if it was */
};

struct source_files {
    struct arena *arena;
    struct str trim_path;
    struct str search_path; /* source_path, or the current directory */
    VEC(struct source_file *) files;
};

/* Both paths are lists, separated by colons.  Memory comes from `a`. */
void source_files_init(struct source_files *s, struct arena *a,
                       struct str source_path, struct str trim_path);

/* Never NULL: a file that cannot be read is returned with an error. */
const struct source_file *source_files_get(struct source_files *s,
                                           struct str name);

/* Returns true if the file was requested before. */
bool source_files_have(const struct source_files *s, struct str name);

/* The text of a line, counted from 1; false if the file has no such line. */
bool source_line(const struct source_file *f, int64_t line, struct str *out);

#endif
