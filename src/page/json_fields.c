/*
 * Replies carry each number twice: raw, to sort and compare by, and as the text
 * that the terminal prints, so that page and terminal never disagree.
 */
#include "page/json_fields.h"

#include "base/number.h"

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

void json_add_bool(struct json *j, const char *key, bool value)
{
    json_key(j, str_from(key));
    json_bool(j, value);
}

/* As text: a number would lose digits in a browser. */
void json_add_address(struct json *j, const char *key, uint64_t address)
{
    struct buf text = BUF_INIT(32);

    buf_add_hex(&text, address);
    json_add_text(j, key, buf_str(&text));
    buf_release(&text);
}

void json_add_value_text(struct json *j, const char *key,
                         const struct report *r, int64_t value)
{
    struct buf text = arena_buf(r->arena);

    report_add_value(r, &text, value);
    json_add_text(j, key, buf_str(&text));
    buf_release(&text);
}

void json_add_percent_text(struct json *j, const char *key,
                           const struct report *r, int64_t value)
{
    struct buf text = arena_buf(r->arena);

    report_add_percent(r, &text, value);
    json_add_text(j, key, str_trim(buf_str(&text)));
    buf_release(&text);
}

void json_add_costs(struct json *j, const struct report *r, int64_t flat,
                    int64_t cum)
{
    json_add_i64(j, "flat", flat);
    json_add_i64(j, "cum", cum);
    json_add_value_text(j, "flat_text", r, flat);
    json_add_value_text(j, "cum_text", r, cum);
}

void json_add_scale(struct json *j, const char *scale_key, const char *unit_key,
                    const struct report *r)
{
    /* No family knows such a unit, so that it means the usual one. */
    const struct str usual = STR("default");
    struct str unit;
    double scale = measure_scale(1, r->sample_unit, usual, &unit);

    json_key(j, str_from(scale_key));
    json_double(j, scale / r->config.divide_by);
    json_add_text(j, unit_key, str_eq(unit, usual) ? STR("") : unit);
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

static void add_header(struct json *j, const struct report *r,
                       const struct header_lines *h)
{
    struct buf text = arena_buf(r->arena);

    header_print(h, &text);
    json_add_lines(j, "legend", buf_str(&text));
    json_add_lines(j, "warnings", buf_str(r->warnings));
    buf_release(&text);
}

void json_add_legend(struct json *j, const struct report *r,
                     const struct header_counts *counts)
{
    struct header_lines h = {0};

    header_add_profile(&h, r);
    header_add_graph(&h, r, counts);
    add_header(j, r, &h);
}

void json_add_profile_legend(struct json *j, const struct report *r)
{
    struct header_lines h = {0};

    header_add_profile(&h, r);
    add_header(j, r, &h);
}
