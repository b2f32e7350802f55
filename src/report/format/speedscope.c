/*
 * -speedscope: a JSON file for https://www.speedscope.app, which shows it
 * without sending it anywhere.
 *
 * Every sample type becomes a profile of the file, the selected one first
 * on the screen.  Stacks with a negative value (a difference) cannot be
 * drawn and are left out.
 */
#include "base/i64.h"
#include "base/json.h"
#include "report/stack/stacks.h"

/* The units that speedscope knows; all others are shown as bare numbers. */
static struct str speedscope_unit(struct str unit)
{
    static const struct {
        struct str theirs, ours[3];
    } units[] = {
        {STR_INIT("nanoseconds"), {STR_INIT("nanoseconds"), STR_INIT("ns")}},
        {STR_INIT("microseconds"), {STR_INIT("microseconds"), STR_INIT("us")}},
        {STR_INIT("milliseconds"), {STR_INIT("milliseconds"), STR_INIT("ms")}},
        {STR_INIT("seconds"),
         {STR_INIT("seconds"), STR_INIT("s"), STR_INIT("sec")}},
        {STR_INIT("bytes"),
         {STR_INIT("bytes"), STR_INIT("byte"), STR_INIT("b")}},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        for (int k = 0; k < 3; k++)
            if (units[i].ours[k].n > 0 && str_eq(unit, units[i].ours[k]))
                return units[i].theirs;
    return STR("none");
}

static void add_frames(struct json *j, const struct report_stacks *t)
{
    const struct profile *p = t->nodes.profile;

    json_key(j, STR("shared"));
    json_open(j, '{');
    json_key(j, STR("frames"));
    json_open(j, '[');
    for (size_t i = 0; i < t->names.n; i++) {
        const struct stack_frame *f = &t->names.v[i];
        const struct node_info *info = &t->nodes.infos.v[f->node];

        json_open(j, '{');
        json_key(j, STR("name"));
        json_string(j, info->name ? profile_str(p, info->name) : f->name);
        if (info->file) {
            json_key(j, STR("file"));
            json_string(j, profile_str(p, info->file));
        }
        if (info->line > 0) {
            json_key(j, STR("line"));
            json_i64(j, info->line);
        }
        if (info->column > 0) {
            json_key(j, STR("col"));
            json_i64(j, info->column);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static bool is_drawn(const struct report_stacks *t, const struct stack *s,
                     size_t type)
{
    return t->values.v[s->row * t->n_types + type] > 0;
}

static void add_samples(struct json *j, const struct report_stacks *t,
                        size_t type)
{
    json_key(j, STR("samples"));
    json_open(j, '[');
    for (size_t i = 0; i < t->stacks.n; i++) {
        const struct stack *s = &t->stacks.v[i];

        if (!is_drawn(t, s, type))
            continue;
        json_open(j, '[');
        for (size_t k = 0; k < s->depth; k++)
            json_i64(j, t->frames.v[s->start + k]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

/* Gives the sum of the weights. */
static int64_t add_weights(struct json *j, const struct report_stacks *t,
                           size_t type)
{
    int64_t sum = 0;

    json_key(j, STR("weights"));
    json_open(j, '[');
    for (size_t i = 0; i < t->stacks.n; i++) {
        const struct stack *s = &t->stacks.v[i];
        int64_t value = t->values.v[s->row * t->n_types + type];

        if (!is_drawn(t, s, type))
            continue;
        json_i64(j, value);
        sum = i64_add(sum, value);
    }
    json_close(j, ']');
    return sum;
}

static void add_profile(struct json *j, const struct report *r,
                        const struct report_stacks *t, size_t type)
{
    const struct profile *p = r->profile;
    const struct value_type *v = &p->types.v[type];
    int64_t sum;

    json_open(j, '{');
    json_key(j, STR("type"));
    json_string(j, STR("sampled"));
    json_key(j, STR("name"));
    json_string(j, profile_str(p, v->type));
    json_key(j, STR("unit"));
    json_string(j, speedscope_unit(profile_str(p, v->unit)));
    add_samples(j, t, type);
    sum = add_weights(j, t, type);
    json_key(j, STR("startValue"));
    json_i64(j, 0);
    json_key(j, STR("endValue"));
    json_i64(j, sum);
    json_close(j, '}');
}

bool format_speedscope(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 0);
    struct report_stacks t;

    (void)err;
    report_stacks_make(&t, r);
    json_open(&j, '{');
    json_key(&j, STR("$schema"));
    json_string(&j, STR("https://www.speedscope.app/file-format-schema.json"));
    json_key(&j, STR("exporter"));
    json_string(&j, STR("pprof-c"));
    json_key(&j, STR("name"));
    json_string(&j, r->title.n > 0 ? r->title : STR("profile"));
    json_key(&j, STR("activeProfileIndex"));
    json_i64(&j, (int64_t)r->value_index);
    add_frames(&j, &t);
    json_key(&j, STR("profiles"));
    json_open(&j, '[');
    for (size_t i = 0; i < t.n_types; i++)
        add_profile(&j, r, &t, i);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_add_char(out, '\n');
    return true;
}
