/*
 * -disasm: the instructions of every matching symbol of the binaries, with
 * what each costs.
 */
#include "base/utf8.h"
#include "report/code/annotated_instructions.h"

#define TEXT_WIDTH 40 /* shorter instructions have their line beside them */

static void print_instruction(const struct report *r, struct buf *out,
                              const struct disassembled *x, struct str position)
{
    if (position.n && x->text.n >= TEXT_WIDTH)
        buf_addf(out, "%74s;%" STR_FMT "\n", "", STR_ARG(position));
    report_add_value_or_dot(r, out, x->flat, 10);
    buf_add_char(out, ' ');
    report_add_value_or_dot(r, out, x->cum, 10);
    buf_addf(out, " %10llx: ", (unsigned long long)x->address);
    buf_add(out, x->text);
    if (position.n && x->text.n < TEXT_WIDTH) {
        size_t width = utf8_count(x->text);

        buf_add_pad(out, ' ', width < TEXT_WIDTH ? TEXT_WIDTH - width : 0);
        buf_addf(out, ";%" STR_FMT, STR_ARG(position));
    }
    buf_add_char(out, '\n');
}

/* "main a.c:12" when it is not where the instruction before was. */
static void add_position(struct buf *out, const struct disassembled *now,
                         struct disassembled *last)
{
    if (now->line == last->line && str_eq(now->function, last->function) &&
        str_eq(now->file, last->file))
        return;
    *last = *now;
    if (now->function.n)
        buf_addf(out, "%" STR_FMT " ", STR_ARG(now->function));
    buf_add(out, now->file);
    if (now->file.n && now->line)
        buf_addf(out, ":%lld", (long long)now->line);
}

static void print_instructions(const struct report *r,
                               const struct disassembled_symbol *s,
                               struct buf *out)
{
    struct buf position = arena_buf(r->arena);
    struct disassembled last = {0};

    for (size_t i = 0; i < s->instructions.n; i++) {
        const struct disassembled *x = &s->instructions.v[i];

        buf_clear(&position);
        add_position(&position, x, &last);
        print_instruction(r, out, x, buf_str(&position));
    }
    buf_release(&position);
}

static void print_symbol(const struct report *r,
                         const struct disassembled_symbol *s, struct buf *out)
{
    for (size_t i = 0; i < s->n_names; i++)
        buf_addf(out, "%s ======================== %" STR_FMT "\n",
                 i ? "    AKA" : "ROUTINE", STR_ARG(s->names[i]));
    report_add_value_right(r, out, s->flat, 10);
    buf_add_char(out, ' ');
    report_add_value_right(r, out, s->cum, 10);
    buf_add(out, STR(" (flat, cum) "));
    report_add_percent(r, out, s->cum);
    buf_add(out, STR(" of Total\n"));
    print_instructions(r, s, out);
}

bool format_disasm(struct report *r, struct buf *out, struct error *err)
{
    struct disassembly d;

    if (!disassembly_make(r, -1, &d, err))
        return false;
    buf_add(out, STR("Total: "));
    report_add_value(r, out, r->total);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < d.symbols.n; i++)
        print_symbol(r, &d.symbols.v[i], out);
    return true;
}
