#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/arena.h"
#include "base/str.h"

/*
 * File names as text; no function here accesses the file system.
 */

/* The last element, without slashes at the end: "" gives ".", "///" "/". */
struct str path_base(struct str path);

/*
 * The shortest equal path: no "//", ".", "x/.."; "" gives ".", "/.." "/".
 * A path that is clean already is returned as it is, else a copy from `a`.
 */
struct str path_clean(struct arena *a, struct str path);

/* path_clean of everything before the last slash; "." when there is none. */
struct str path_dir(struct arena *a, struct str path);

#endif
