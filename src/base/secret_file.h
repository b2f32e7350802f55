#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <stdbool.h>

/*
 * Files that hold a key or tokens.
 */

/* Can other users of the machine read or change it? */
bool secret_file_is_exposed(const char *path);

/* If so, says what to do about it.  `say` may be NULL. */
void secret_file_warn(const char *path,
                      void (*say)(void *arg, const char *words), void *arg);

#endif
