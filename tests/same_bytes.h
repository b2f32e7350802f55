#ifndef TESTS_SAME_BYTES_H
#define TESTS_SAME_BYTES_H

#include "base/buf.h"
#include "profile/encode.h"

/* Do two profiles have the same encoding? */
static inline bool same_bytes(const struct profile *a, const struct profile *b)
{
    struct buf x = BUF_INIT(BUF_NO_LIMIT), y = BUF_INIT(BUF_NO_LIMIT);
    bool same;

    profile_encode(a, &x);
    profile_encode(b, &y);
    same = str_eq(buf_str(&x), buf_str(&y));
    buf_release(&x);
    buf_release(&y);
    return same;
}

#endif
