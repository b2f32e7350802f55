#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Words for the user about what went wrong.
 *
 * The caller owns the struct (usually on its stack) and passes it last; a
 * function that fails fills it and returns false or NULL.  Nothing to free.
 * Texts read like Go's: "open x: no such file or directory".  Longer texts
 * than fit are cut at the end.
 */
struct error {
    char text[4096];
};

/* Sets the text.  Returns false, so that a caller can `return error_set(…)`. */
bool error_set(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "<words>: " in front of the text that is there.  Returns false. */
bool error_wrap(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sets "<op> <path>: <reason>" from an errno value, spelt as Go spells it
 * ("no such file or directory", not "No such file or directory").
 */
bool error_set_os(struct error *err, const char *op, const char *path,
                  int errnum);

#endif
