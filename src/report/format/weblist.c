/*
 * -weblist: a page with the source of matching functions; a click on a line
 * shows its instructions.
 */
#include "base/html.h"
#include "base/utf8.h"
#include "report/code/annotated_source.h"

static const char page_head[] =
    "<!DOCTYPE html>\n"
    "<html>\n"
    "<head>\n"
    "<meta charset=\"UTF-8\">\n"
    "<title>Source listing</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font-family: sans-serif; margin: 1em 2em; }\n"
    "h2 { font-size: 1.2em; margin: 1.5em 0 0; }\n"
    ".legend { font-size: 0.9em; opacity: 0.8; }\n"
    ".filename { font-size: 0.9em; margin: 0 0 0.5em; opacity: 0.7; }\n"
    "pre { line-height: 1.3; overflow-x: auto; }\n"
    ".line { opacity: 0.6; }\n"
    ".nop, .unimportant { opacity: 0.55; }\n"
    ".livesrc { color: #0b57d0; cursor: pointer; }\n"
    ".livesrc:hover { text-decoration: underline; }\n"
    ".inlinesrc { color: #1e7e34; }\n"
    ".asm { color: #8a5300; display: none; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .livesrc { color: #8ab4f8; }\n"
    "  .inlinesrc { color: #81c995; }\n"
    "  .asm { color: #fdd663; }\n"
    "}\n"
    "</style>\n"
    "<script>\n"
    "function pprof_toggle_asm(event) {\n"
    "  const line = event.target.closest('.livesrc');\n"
    "  const asm = line && line.nextElementSibling;\n"
    "  if (asm && asm.className === 'asm') {\n"
    "    asm.style.display = asm.style.display === 'block' ? 'none' : "
    "'block';\n"
    "    event.preventDefault();\n"
    "  }\n"
    "}\n"
    "</script>\n"
    "</head>\n";

/* Padded on the right to a width in columns: an entity takes one. */
static void add_padded(struct buf *out, struct str text, size_t width)
{
    size_t n = utf8_count(text);

    buf_add_html(out, text);
    if (n < width)
        buf_add_pad(out, ' ', width - n);
}

static void add_instruction(const struct report *r,
                            const struct listing_instruction *x,
                            struct buf *out)
{
    if (x->new_block)
        buf_addf(out, " %8s %28s\n", "", "…");
    for (size_t i = 0; i < x->n_calls; i++) {
        const struct listing_call *c = &x->calls[i];

        buf_addf(out, " %8s %10s %10s %8s  <span class=inlinesrc>", "", "", "",
                 "");
        add_padded(out, c->source, 80);
        buf_add(out, STR("</span> <span class=unimportant>"));
        buf_add_html(out, c->file);
        buf_addf(out, ":%lld</span>\n", (long long)c->line);
    }
    if (x->text.n == 0)
        return;
    buf_addf(out, " %8s ", "");
    report_add_value_or_dot(r, out, x->flat, 10);
    buf_add_char(out, ' ');
    report_add_value_or_dot(r, out, x->cum, 10);
    buf_addf(out, " %8llx: ", (unsigned long long)x->address);
    add_padded(out, x->text, 80);
    buf_add(out, STR(" <span class=unimportant>"));
    if (x->file.n) {
        buf_add_html(out, x->file);
        buf_addf(out, ":%lld", (long long)x->line);
    }
    buf_add(out, STR("</span>\n"));
}

static void add_line(const struct report *r, const struct listing_line *l,
                     struct buf *out)
{
    const char *class = l->n_instructions ? "livesrc"
                        : l->has_cost     ? "deadsrc"
                                          : "nop";

    buf_addf(out, "<span class=line> %6lld</span> <span class=%s>  ",
             (long long)l->line, class);
    report_add_value_or_dot(r, out, l->flat, 10);
    buf_add_char(out, ' ');
    report_add_value_or_dot(r, out, l->cum, 10);
    buf_addf(out, " %8s  ", "");
    buf_add_html(out, l->source);
    buf_add(out, STR(" </span>"));
    if (l->n_instructions) {
        buf_add(out, STR("<span class=asm>"));
        for (size_t i = 0; i < l->n_instructions; i++)
            add_instruction(r, &l->instructions[i], out);
        buf_add(out, STR("</span>"));
    }
    buf_add_char(out, '\n');
}

static void add_function(const struct report *r,
                         const struct listing_function *f, struct buf *out)
{
    buf_add(out, STR("<h2>"));
    buf_add_html(out, f->name);
    buf_add(out, STR("</h2><p class=\"filename\">"));
    buf_add_html(out, f->file);
    buf_add(out, STR("</p>\n<pre onClick=\"pprof_toggle_asm(event)\">\n"
                     "  Total:  "));
    report_add_value_right(r, out, f->flat, 10);
    buf_add_char(out, ' ');
    report_add_value_right(r, out, f->cum, 10);
    buf_add(out, STR(" (flat, cum) "));
    report_add_percent(r, out, f->cum);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < f->lines.n; i++)
        add_line(r, &f->lines.v[i], out);
    buf_add(out, STR("</pre>\n"));
}

static void add_legend(const struct report *r, struct buf *out)
{
    struct buf labels = arena_buf(r->arena);
    struct str rest, line;
    bool first = true;

    report_add_profile_labels(r, &labels);
    rest = buf_str(&labels);
    buf_add(out, STR("<div class=\"legend\">"));
    while (str_next_line(&rest, &line)) {
        buf_add(out, first ? STR("") : STR("<br>\n"));
        buf_add_html(out, line);
        first = false;
    }
    buf_add(out, STR("<br>Total: "));
    report_add_value(r, out, r->total);
    buf_add(out, STR("</div>"));
    buf_release(&labels);
}

bool format_weblist(struct report *r, struct buf *out, struct error *err)
{
    struct annotated_source listing = {0};

    if (!listing_make(r, -1, &listing, err))
        return false;
    buf_add(out, str_from(page_head));
    buf_add(out, STR("<body>\n\n"));
    add_legend(r, out);
    for (size_t i = 0; i < listing.functions.n; i++)
        add_function(r, &listing.functions.v[i], out);
    buf_add(out, STR("\n</body>\n</html>\n"));
    return true;
}
