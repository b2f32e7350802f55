/* -comments: every comment on a line of its own. */
#include "report/context.h"

bool format_comments(struct report *r, struct buf *out, struct error *err)
{
    const struct profile *p = r->profile;

    (void)err;
    for (size_t i = 0; i < p->comments.n; i++) {
        buf_add(out, profile_str(p, p->comments.v[i]));
        buf_add_char(out, '\n');
    }
    return true;
}
