#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *err, const char *fmt, ...)
{
    va_list ap;

    err->code = 0;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return false;
}

bool error_set_code(struct error *err, int code, const char *fmt, ...)
{
    va_list ap;

    err->code = code;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return false;
}

bool error_wrap(struct error *err, const char *fmt, ...)
{
    char old[sizeof(err->text)];
    va_list ap;
    int n;

    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
    return false;
}

/* glibc's returns the words, which need not be in the buffer; POSIX' an error
 * number. */
static const char *words_for(int errnum, char *buffer, size_t n)
{
#if defined(__GLIBC__)
    return strerror_r(errnum, buffer, n);
#else
    return strerror_r(errnum, buffer, n) == 0 ? buffer : "Unknown error";
#endif
}

bool error_set_os(struct error *err, const char *op, const char *path,
                  int errnum)
{
    char reason[128];
    const char *words = words_for(errnum, reason, sizeof(reason));

    err->code = errnum;
    /* Go writes every reason in lower case unless it starts with an
     * abbreviation, as "RPC …" and ".lib …" do. */
    snprintf(err->text, sizeof(err->text), "%s %s: %c%s", op, path,
             islower((unsigned char)words[1]) ? tolower((unsigned char)words[0])
                                              : words[0],
             words + 1);
    return false;
}
