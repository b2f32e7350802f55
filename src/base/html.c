#include "base/html.h"

static struct str entity(char c)
{
    switch (c) {
    case '&':
        return STR("&amp;");
    case '<':
        return STR("&lt;");
    case '>':
        return STR("&gt;");
    case '"':
        return STR("&#34;");
    case '\'':
        return STR("&#39;");
    case '+':
        return STR("&#43;");
    default:
        return STR("");
    }
}

void buf_add_html(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        struct str instead = entity(text.s[i]);

        if (instead.n)
            buf_add(out, instead);
        else
            buf_add_char(out, text.s[i]);
    }
}
