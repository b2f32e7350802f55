#include "page/data.h"

void json_add_text(struct json *j, const char *key, struct str value)
{
    json_key(j, str_from(key));
    json_string(j, value);
}

void json_add_i64(struct json *j, const char *key, int64_t value)
{
    json_key(j, str_from(key));
    json_i64(j, value);
}

void json_add_value_text(struct json *j, const char *key,
                         const struct report *r, int64_t value)
{
    struct buf text = BUF_INIT(BUF_NO_LIMIT);

    report_add_value(r, &text, value);
    json_add_text(j, key, buf_str(&text));
    buf_release(&text);
}

void json_add_percent_text(struct json *j, const char *key,
                           const struct report *r, int64_t value)
{
    struct buf text = BUF_INIT(BUF_NO_LIMIT);

    report_add_percent(r, &text, value);
    json_add_text(j, key, str_trim(buf_str(&text)));
    buf_release(&text);
}

void json_add_lines(struct json *j, const char *key, struct str text)
{
    struct str line;

    json_key(j, str_from(key));
    json_open(j, '[');
    while (str_next_line(&text, &line))
        json_string(j, line);
    json_close(j, ']');
}

void json_add_legend(struct json *j, const struct report *r,
                     const struct header_counts *counts)
{
    struct header_lines h = {0};
    struct buf text = BUF_INIT(BUF_NO_LIMIT);

    header_add_profile(&h, r);
    header_add_graph(&h, r, counts);
    header_print(&h, &text);
    json_add_lines(j, "legend", buf_str(&text));
    json_add_lines(j, "warnings", buf_str(r->warnings));
    buf_release(&text);
}
