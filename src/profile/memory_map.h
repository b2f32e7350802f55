#ifndef PROFILE_MEMORY_MAP_H
#define PROFILE_MEMORY_MAP_H

#include "profile/legacy_common.h"

/*
 * The memory map at the end of a legacy profile: lines of /proc/PID/maps, or
 * the brief form
 *
 *     START-END [perm] [file] [(@OFFSET)] [build id]
 *
 * either of them behind a log prefix, with $name where an earlier line said
 * name=value.  Other lines are ignored.
 */

/* Returns true if the map starts after this line. */
bool memory_map_starts(struct str line);

/*
 * Appends the executable mappings of the remaining lines to the profile,
 * neighbours joined, the likely main program first.  False with the error
 * set for a line that is too long or a limit passed.
 */
bool memory_map_read(struct legacy *l, struct line_scanner *lines);

/* Skips to the memory map, reads it and finishes the profile's tables. */
enum legacy_result legacy_finish_with_map(struct legacy *l,
                                          struct line_scanner *lines);

#endif
