/* The instructions of symbols, with what each costs. */
#include "page/data.h"
#include "page/json_fields.h"
#include "report/code/annotated_instructions.h"
#include "report/code/code.h"

/* A run of the disassembler each. */
#define MAX_SYMBOLS 50

static void add_instruction(struct json *j, const struct report *r,
                            const struct disassembled *x)
{
    json_open(j, '{');
    json_add_address(j, "address", x->address);
    json_add_text(j, "text", x->text);
    json_add_costs(j, r, x->flat, x->cum);
    json_add_text(j, "function", x->function);
    json_add_text(j, "file", x->file);
    json_add_i64(j, "line", x->line);
    json_close(j, '}');
}

static void add_symbol(struct json *j, const struct report *r,
                       const struct disassembled_symbol *s)
{
    json_open(j, '{');
    json_add_text(j, "function", code_pretty_name(r, s->names[0]));
    json_key(j, STR("names"));
    json_open(j, '[');
    for (size_t i = 0; i < s->n_names; i++)
        json_string(j, s->names[i]);
    json_close(j, ']');
    json_add_costs(j, r, s->flat, s->cum);
    json_add_percent_text(j, "cum_pct", r, s->cum);
    json_key(j, STR("instructions"));
    json_open(j, '[');
    for (size_t i = 0; i < s->instructions.n; i++)
        add_instruction(j, r, &s->instructions.v[i]);
    json_close(j, ']');
    json_close(j, '}');
}

bool data_disasm(struct report *r, struct buf *out, struct error *err)
{
    struct json j = json_start(out, 0);
    struct disassembly d;

    if (!disassembly_make(r, MAX_SYMBOLS, &d, err))
        return false;
    json_open(&j, '{');
    json_add_i64(&j, "total", r->total);
    json_add_value_text(&j, "total_text", r, r->total);
    json_add_profile_legend(&j, r);
    json_add_i64(&j, "left_out", (int64_t)d.n_left_out);
    json_key(&j, STR("symbols"));
    json_open(&j, '[');
    for (size_t i = 0; i < d.symbols.n; i++)
        add_symbol(&j, r, &d.symbols.v[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    return true;
}
