/*
 * Selectors.  What is accepted has a canonical form, which is accepted too
 * and is its own canonical form.
 */
#include <stdlib.h>

#include "collector/query/selector.h"

static void format(struct arena *a, struct str text, struct buf *out)
{
    struct error err;
    struct selector s;

    if (!selector_parse(&s, a, text, &err))
        abort();
    selector_format(&s, a, out);
    selector_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    struct buf once = BUF_INIT(1 << 20), twice = BUF_INIT(1 << 20);
    struct str text = str_of((const char *)data, size);
    struct selector s;
    struct error err;

    if (selector_parse(&s, a, text, &err)) {
        selector_format(&s, a, &once);
        selector_release(&s);
        if (buf_ok(&once)) {
            format(a, buf_str(&once), &twice);
            if (!str_eq(buf_str(&once), buf_str(&twice)))
                abort();
        }
    }
    buf_release(&once);
    buf_release(&twice);
    arena_free(a);
    return 0;
}
