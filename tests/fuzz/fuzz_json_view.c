/*
 * Bytes as JSON, and as what a cluster says of a token and of access: only the
 * named user is admitted, and what is passed on is JSON again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json_view.h"
#include "http/access/kube_review.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void as_review(struct str bytes)
{
    struct buf user = BUF_INIT(1 << 20), object = BUF_INIT(1 << 20);
    struct json_view v;
    bool yes;
    char who[64] = "";

    if (review_read_token(bytes, &yes, who, sizeof(who), &user) && yes) {
        must(who[0] != '\0');
        buf_add_char(&object, '{');
        buf_add(&object, buf_str(&user));
        buf_add_char(&object, '}');
        must(json_view(buf_str(&object), &v) &&
             json_view_member(v, STR("user"), &v));
    }
    buf_release(&user);
    buf_release(&object);
    if (!review_read_access(bytes, &yes))
        must(!yes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_of((const char *)data, size);
    struct json_view v, member;
    struct buf text = BUF_INIT(1 << 20);
    bool yes;

    if (json_view(bytes, &v)) {
        must(v.text.n > 0 && v.text.n <= size);
        if (json_view_member(v, STR("a"), &member))
            must(json_view(member.text, &member));
        json_view_bool(v, &yes);
        must(json_view_string(v, &text) == json_view_is(v, '"'));
    }
    as_review(bytes);
    buf_release(&text);
    return 0;
}
