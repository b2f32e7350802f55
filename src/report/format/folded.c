/*
 * -folded: one line a stack, "main;work;add 12", root first, for
 * flamegraph.pl and whatever else reads collapsed stacks.
 *
 * With -diff_base there are two numbers, before and after, as difffolded.pl
 * writes them: flamegraph.pl draws a red and blue graph from that.
 */
#include "base/i64.h"
#include "base/number.h"
#include "report/stack/stacks.h"

/* The separator and line ends cannot be part of a name. */
static struct str clean_name(struct arena *a, struct str name)
{
    char *text = NULL;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.s[i];

        if (c != ';' && c != '\n' && c != '\r')
            continue;
        if (!text)
            text = arena_cstr(a, name);
        text[i] = c == ';' ? ':' : ' ';
    }
    return text ? str_of(text, name.n) : name;
}

/* An integer in the profile's unit, or what -unit makes of it. */
static void add_number(const struct report *r, struct buf *out, int64_t value)
{
    struct str unit;
    double scaled;

    buf_add_char(out, ' ');
    value = report_divided(r, value);
    if (str_eq(r->output_unit, STR("minimum"))) {
        buf_add_i64(out, value);
        return;
    }
    scaled = measure_scale(value, r->sample_unit, r->output_unit, &unit);
    buf_addf(out, "%.6f", scaled);
    while (out->len > 0 && out->data[out->len - 1] == '0')
        out->len--;
    if (out->len > 0 && out->data[out->len - 1] == '.')
        out->len--;
}

/* A line, unless there is nothing to tell. */
static void add_stack(const struct report *r, const struct report_stacks *t,
                      const struct stack *s, struct buf *out)
{
    int64_t value = stack_value(r, t, s);
    int64_t base =
        t->has_base ? t->base.v[s->row * t->n_types + r->value_index] : 0;

    if (value == 0 && base == 0)
        return;
    for (size_t k = 0; k < s->depth; k++) {
        if (k > 0)
            buf_add_char(out, ';');
        buf_add(out, t->names.v[t->frames.v[s->start + k]].name);
    }
    if (t->has_base)
        add_number(r, out, i64_sub(0, base));
    add_number(r, out, t->has_base ? i64_sub(value, base) : value);
    buf_add_char(out, '\n');
}

bool format_folded(struct report *r, struct buf *out, struct error *err)
{
    struct report_stacks t;

    report_stacks_make(&t, r);
    for (size_t i = 0; i < t.names.n; i++)
        t.names.v[i].name = clean_name(r->arena, t.names.v[i].name);
    for (size_t i = 0; i < t.stacks.n; i++) {
        add_stack(r, &t, &t.stacks.v[i], out);
        if (!report_drain(r, out, err))
            return false;
    }
    return true;
}
