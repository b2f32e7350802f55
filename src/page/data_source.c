/* Source lines with what they cost and the instructions made from them. */
#include "page/data.h"
#include "page/json_fields.h"
#include "report/code/annotated_source.h"

#define MAX_FILES 50

static void add_calls(struct json *j, const struct listing_instruction *x)
{
    json_key(j, STR("calls"));
    json_open(j, '[');
    for (size_t i = 0; i < x->n_calls; i++) {
        json_open(j, '{');
        json_add_text(j, "source", x->calls[i].source);
        json_add_text(j, "file", x->calls[i].file);
        json_add_i64(j, "line", x->calls[i].line);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void add_instructions(struct json *j, const struct report *r,
                             const struct listing_line *l)
{
    json_key(j, STR("instructions"));
    json_open(j, '[');
    for (size_t i = 0; i < l->n_instructions; i++) {
        const struct listing_instruction *x = &l->instructions[i];

        json_open(j, '{');
        json_add_address(j, "address", x->address);
        json_add_text(j, "text", x->text);
        json_add_text(j, "file", x->file);
        json_add_i64(j, "line", x->line);
        json_add_costs(j, r, x->flat, x->cum);
        json_add_bool(j, "new_block", x->new_block);
        if (x->n_calls > 0)
            add_calls(j, x);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void add_line(struct json *j, const struct report *r,
                     const struct listing_line *l)
{
    json_open(j, '{');
    json_add_i64(j, "line", l->line);
    json_add_text(j, "source", l->source);
    if (l->has_cost) {
        json_add_costs(j, r, l->flat, l->cum);
        if (l->n_instructions > 0)
            add_instructions(j, r, l);
    }
    json_close(j, '}');
}

static void add_function(struct json *j, const struct report *r,
                         const struct listing_function *f)
{
    json_open(j, '{');
    json_add_text(j, "name", f->name);
    json_add_text(j, "file", f->file);
    json_add_costs(j, r, f->flat, f->cum);
    json_add_percent_text(j, "cum_pct", r, f->cum);
    json_key(j, STR("lines"));
    json_open(j, '[');
    for (size_t i = 0; i < f->lines.n; i++)
        add_line(j, r, &f->lines.v[i]);
    json_close(j, ']');
    json_close(j, '}');
}

bool data_source(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 0);
    struct annotated_source listing = {0};

    if (!listing_make(r, MAX_FILES, &listing, err))
        return false;
    json_open(&j, '{');
    json_add_i64(&j, "total", r->total);
    json_add_value_text(&j, "total_text", r, r->total);
    json_add_profile_legend(&j, r);
    json_key(&j, STR("functions"));
    json_open(&j, '[');
    for (size_t i = 0; i < listing.functions.n; i++)
        add_function(&j, r, &listing.functions.v[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    return true;
}
