/* The labels of the samples: for every key its values, the heaviest first. */
#include "base/i64.h"
#include "page/data.h"
#include "page/json_fields.h"
#include "report/format/tags.h"

static void add_weight(struct json *j, const struct report *r, int64_t weight)
{
    json_add_i64(j, "weight", weight);
    json_add_value_text(j, "text", r, weight);
    json_add_percent_text(j, "percent", r, weight);
}

static void add_key(struct json *j, const struct report *r,
                    const struct tag *tags, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum = i64_add(sum, tags[i].weight);
    json_open(j, '{');
    json_add_text(j, "key", tags[0].key);
    add_weight(j, r, sum);
    json_key(j, STR("values"));
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, '{');
        json_add_text(j, "value", tags[i].name);
        json_add_bool(j, "number", tags[i].is_number);
        add_weight(j, r, tags[i].weight);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

bool data_labels(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 0);
    struct tag_list list;

    (void)err;
    tags_collect(&list, r);
    json_open(&j, '{');
    json_add_i64(&j, "total", r->total);
    json_add_value_text(&j, "total_text", r, r->total);
    json_add_profile_legend(&j, r);
    json_key(&j, STR("keys"));
    json_open(&j, '[');
    for (size_t i = 0, n; i < list.tags.n; i += n) {
        n = tags_of_key(list.tags.v + i, list.tags.n - i);
        add_key(&j, r, list.tags.v + i, n);
    }
    json_close(&j, ']');
    json_close(&j, '}');
    return true;
}
