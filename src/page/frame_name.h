#ifndef PAGE_FRAME_NAME_H
#define PAGE_FRAME_NAME_H

#include "base/arena.h"
#include "report/frame.h"

/*
 * Names of frames as flame graphs show them.
 */

/* The function with its line, "work:12:3"; the file if it has no name. */
struct str frame_full_name(struct arena *a, const struct frame *f);

/*
 * The package or namespace of a name: everything before the first "." or "::"
 * after the last slash, "example.com/a/pkg", "ns"; "" if that is not one word.
 */
struct str frame_package(struct str name);

#endif
