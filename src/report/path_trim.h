#ifndef REPORT_PATH_TRIM_H
#define REPORT_PATH_TRIM_H

#include "base/str.h"

/*
 * A source file's name without the path of the machine that built it.
 *
 * With a trim_path ("a:b"), the first of its prefixes that fits is cut.
 * Without, the last element of each directory of source_path ("/x/proj:…")
 * is looked for in the name, and everything through "/proj/" is cut.
 * Otherwise /proc/self/cwd/ is.  The result is a view of `path`.
 */
struct str path_trim(struct str path, struct str trim_path,
                     struct str source_path);

#endif
