/* What changed since the base, function by function; the largest change of
 * own cost first. */
#include <stdlib.h>

#include "base/i64.h"
#include "page/data.h"
#include "page/json_fields.h"
#include "report/stack/change.h"

static int by_change(const void *x, const void *y)
{
    const struct function_change *a = x, *b = y;
    int64_t own_a = i64_abs(amounts_grew(a->own));
    int64_t own_b = i64_abs(amounts_grew(b->own));
    int64_t all_a = i64_abs(amounts_grew(a->all));
    int64_t all_b = i64_abs(amounts_grew(b->all));

    if (own_a != own_b)
        return own_a > own_b ? -1 : 1;
    if (all_a != all_b)
        return all_a > all_b ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

/* "key": {base, new, delta, base_text, new_text, delta_text} */
static void add_amounts(struct json *j, const char *key, const struct report *r,
                        struct amounts a)
{
    json_key(j, str_from(key));
    json_open(j, '{');
    json_add_i64(j, "base", a.before);
    json_add_i64(j, "new", a.after);
    json_add_i64(j, "delta", amounts_grew(a));
    json_add_value_text(j, "base_text", r, a.before);
    json_add_value_text(j, "new_text", r, a.after);
    json_add_value_text(j, "delta_text", r, amounts_grew(a));
    json_close(j, '}');
}

bool data_diff(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 0);
    struct report_stacks t;
    struct changes c;

    report_stacks_make(&t, r);
    if (!t.has_base)
        return error_set(err, "there is no base profile to compare with");
    changes_find(&c, r->arena, &t, r->value_index);
    if (c.n > 0)
        qsort(c.functions, c.n, sizeof(*c.functions), by_change);
    json_open(&j, '{');
    json_add_profile_legend(&j, r);
    add_amounts(&j, "total", r, c.total);
    json_add_i64(&j, "period",
                 changes_sample_worth(&t, r->profile, r->value_index));
    json_key(&j, STR("rows"));
    json_open(&j, '[');
    for (size_t i = 0; i < c.n; i++) {
        const struct function_change *f = &c.functions[i];

        json_open(&j, '{');
        json_add_text(&j, "name", t.names.v[f->frame].name);
        add_amounts(&j, "flat", r, f->own);
        add_amounts(&j, "cum", r, f->all);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    return true;
}
