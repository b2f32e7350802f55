/*
 * Selections of the page.  What is accepted has a canonical form with
 * absolute times, which is accepted at any time and is its own canonical form.
 */
#include <stdlib.h>

#include "collector/query/selection.h"

static bool canonical(struct arena *a, struct str text, int64_t now_ns,
                      struct buf *out)
{
    struct selection s;
    struct error err;

    if (!selection_parse(&s, a, text, now_ns, &err))
        return false;
    selection_format(&s, a, out);
    selection_name(&s, a);
    selection_release(&s);
    return buf_ok(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    struct buf once = BUF_INIT(1 << 20), twice = BUF_INIT(1 << 20);
    struct str text = str_of((const char *)data, size);

    if (canonical(a, text, INT64_C(1769846400000000000), &once) &&
        (!canonical(a, buf_str(&once), 0, &twice) ||
         !str_eq(buf_str(&once), buf_str(&twice))))
        abort();
    buf_release(&once);
    buf_release(&twice);
    arena_free(a);
    return 0;
}
