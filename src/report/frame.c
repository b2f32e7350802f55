#include "report/frame.h"

#include "base/number.h"
#include "base/path.h"

static struct str object_of(const struct profile *p, const struct location *l)
{
    if (l->mapping == NO_INDEX)
        return (struct str){0};
    return profile_str(p, p->mappings.v[l->mapping].file);
}

struct frame frame_of(struct arena *a, const struct profile *p,
                      const struct location *l, uint32_t line, bool objects)
{
    struct frame f = {.address = l->address};
    const struct function *function;
    const struct line *at;

    if (line >= l->n_lines) {
        f.object = object_of(p, l);
        return f;
    }
    at = &p->lines.v[l->line_start + line];
    function = &p->functions.v[at->function];
    f.line = at->line;
    f.column = at->column;
    f.name = profile_str(p, function->name);
    if (function->filename != 0)
        f.file = path_clean(a, profile_str(p, function->filename));
    if (objects || f.name.n == 0) {
        f.object = object_of(p, l);
        f.start_line = function->start_line;
    }
    return f;
}

static void add_address(struct buf *out, uint64_t address)
{
    char digits[NUMBER_HEX_MAX];
    size_t n = number_put_hex(digits, address);

    buf_add_pad(out, '0', NUMBER_HEX_MAX - n);
    buf_add_bytes(out, digits, n);
}

/* The part after address and name: where it is, as far as known. */
static void add_place(struct buf *out, const struct frame *f)
{
    if (f->line != 0) {
        buf_add(out, f->file);
        buf_add_char(out, ':');
        buf_add_i64(out, f->line);
        if (f->column != 0) {
            buf_add_char(out, ':');
            buf_add_i64(out, f->column);
        }
    } else if (f->file.n > 0) {
        buf_add(out, f->file);
    } else if (f->object.n > 0) {
        buf_add_char(out, '[');
        buf_add(out, path_base(f->object));
        buf_add_char(out, ']');
    } else {
        buf_add(out, STR("<unknown>"));
    }
}

void frame_add_parts(struct buf *out, const struct frame *f,
                     struct str separator)
{
    if (f->address != 0) {
        add_address(out, f->address);
        buf_add(out, separator);
    }
    buf_add(out, f->name);
    if (f->name.n > 0) {
        if (f->line == 0 && f->file.n == 0)
            return;
        buf_add(out, separator);
    }
    add_place(out, f);
}

void frame_add_name(struct buf *out, const struct frame *f)
{
    frame_add_parts(out, f, STR(" "));
}
