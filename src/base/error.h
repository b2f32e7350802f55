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
 *
 * The code is for callers that must tell failures apart (which status to reply
 * with, whether to retry): an errno value, or 0 if no caller needs it.  Never
 * search the text instead.
 */
struct error {
    char text[4096];
    int code;
};

/* Sets the text, and the code to 0.  Returns false, so that a caller can
 * `return error_set(…)`. */
bool error_set(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with a code. */
bool error_set_code(struct error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<words>: " in front of the text and keeps the code.  Returns false. */
bool error_wrap(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sets "<op> <path>: <reason>" from an errno value, spelt as Go spells it
 * ("no such file or directory", not "No such file or directory"), and the
 * code to that value.
 */
bool error_set_os(struct error *err, const char *op, const char *path,
                  int errnum);

#endif
