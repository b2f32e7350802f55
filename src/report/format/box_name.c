#include "report/format/box_name.h"

#include "base/path.h"
#include "report/short_name.h"

/* The length of what ends a line at the start of a text; 0 if nothing. */
static size_t line_break(struct str s)
{
    if (str_has_prefix(s, STR("::")))
        return 2;
    return str_has_prefix(s, STR(".")) ? 1 : 0;
}

static void add_in_lines(struct buf *out, struct str s, struct str line_end,
                         void (*add_name)(struct buf *out, struct str piece))
{
    const struct str ellipsis = STR("[...]");
    size_t start = 0, i = 0;

    while (i < s.n) {
        struct str rest = str_skip(s, i);
        bool cut = str_has_prefix(rest, ellipsis);
        size_t n = cut ? ellipsis.n : line_break(rest);

        if (n == 0) {
            i++;
            continue;
        }
        add_name(out, str_of(s.s + start, i - start));
        buf_add(out, cut ? STR("[…]") : line_end);
        start = i += n;
    }
    add_name(out, str_skip(s, start));
}

void box_name_add(struct buf *out, struct arena *a, const struct frame *f,
                  struct str line_end,
                  void (*add_name)(struct buf *out, struct str piece))
{
    struct buf name = arena_buf(a);
    struct frame shown = *f;

    add_in_lines(&name, short_name(a, f->name), line_end, add_name);
    shown.name = buf_str(&name);
    if (f->file.n)
        shown.file = path_base(f->file);
    frame_add_parts(out, &shown, line_end);
    buf_add(out, line_end);
    buf_release(&name);
}
