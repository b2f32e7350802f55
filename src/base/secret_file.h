#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <stdbool.h>

/*
 * Files that hold a key or tokens.
 */

/* Returns true if other users of the machine can read or change the file. */
bool secret_file_is_exposed(const char *path);

/* If so, reports what to do about it.  `say` may be NULL. */
void secret_file_warn(const char *path,
                      void (*say)(void *arg, const char *words), void *arg);

#endif
