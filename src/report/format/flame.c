/*
 * -flame: a flame graph in the terminal, the root on top.
 *
 * A row is laid out in eighths of a column: block characters that fill a
 * part of their place make the edges finer than letters.  Without colours
 * frames are boxes with thin walls instead.  Callees that are too narrow to
 * draw are put together, so that nothing is missing without a sign.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/i64.h"
#include "base/utf8.h"
#include "report/format/ansi.h"
#include "report/format/fitted_name.h"
#include "report/stack/stack_tree.h"

#define DEFAULT_COLUMNS 80
#define LEAST_COLUMNS   20
#define EIGHTHS         8

struct cell {
    double from, to; /* in eighths of a column */
    uint32_t node;   /* of the tree; for narrow ones their first */
    uint32_t narrow; /* how many were put together; 0: one node */
};

typedef VEC(struct cell) cell_list;

struct flame {
    struct report *report;
    struct report_stacks stacks;
    struct stack_tree tree;
    struct ansi ansi;
    bool colour;
    size_t columns;
    double scale;    /* eighths for a value of 1 */
    size_t narrow;   /* nodes that were not drawn by themselves */
    uint32_t *owner; /* of each eighth of a row: a cell, or NO_INDEX */
};

/* ---- layout ---- */

static double width_of(const struct flame *f, uint32_t node)
{
    return (double)f->tree.nodes.v[node].amounts.after * f->scale;
}

/* The cells below one: its callees from its left edge on. */
static void lay_out_callees(struct flame *f, const struct cell *c,
                            cell_list *out)
{
    const struct tree_node *nodes = f->tree.nodes.v;
    double least = EIGHTHS * (f->colour ? 1 : 3), at = c->from, rest = 0;
    struct cell narrow = {0};

    if (c->narrow > 0)
        return;
    for (uint32_t n = nodes[c->node].first_child; n != NO_INDEX;
         n = nodes[n].next_sibling) {
        double width = width_of(f, n);

        if (width <= 0)
            break; /* gone, and so are all after it */
        if (width < least) {
            if (narrow.narrow++ == 0)
                narrow.node = n;
            rest += width;
            continue;
        }
        *vec_push(f->report->arena, out) =
            (struct cell){.from = at, .to = at + width, .node = n};
        at += width;
    }
    f->narrow += narrow.narrow;
    if (rest < least)
        return;
    narrow.from = at;
    narrow.to = at + rest;
    *vec_push(f->report->arena, out) = narrow;
}

/* ---- words in cells ---- */

static void add_percent(const struct flame *f, struct buf *out, int64_t value)
{
    double total = (double)f->report->total, percent;

    if (f->stacks.has_base) /* the total is that of the base */
        total = (double)f->tree.nodes.v[0].amounts.after;
    percent = total != 0 ? (double)value * 100 / total : 0;
    if (percent >= 99.95)
        buf_addf(out, "%.0f%%", percent);
    else
        buf_addf(out, "%.1f%%", percent);
}

/* How it changed, or what it is worth. */
static void add_amount(const struct flame *f, struct buf *out, struct amounts a)
{
    int64_t value = f->stacks.has_base ? amounts_grew(a) : a.after;

    if (f->stacks.has_base && value > 0)
        buf_add_char(out, '+');
    report_add_value(f->report, out, value);
}

static void add_label(const struct flame *f, struct buf *out,
                      const struct cell *c, size_t room)
{
    const struct tree_node *n = &f->tree.nodes.v[c->node];
    struct buf percent = arena_buf(f->report->arena), amount = percent;

    add_percent(f, &percent, n->amounts.after);
    add_amount(f, &amount, n->amounts);
    fitted_name_add(out, f->report->arena, f->stacks.names.v[n->frame].name,
                    buf_str(&percent), buf_str(&amount), room);
    buf_release(&percent);
    buf_release(&amount);
}

static void add_narrow_label(struct buf *out, const struct cell *c, size_t room)
{
    char text[32];
    int n = snprintf(text, sizeof(text), " %u more", c->narrow);

    if (room > 0)
        buf_add(out, STR("…"));
    if (room >= (size_t)n + 1)
        buf_add(out, str_from(text));
}

/* A label and spaces, `room` columns in all. */
static void add_text(const struct flame *f, struct buf *out,
                     const struct cell *c, size_t room)
{
    size_t start = out->len, n;

    if (c->narrow > 0)
        add_narrow_label(out, c, room);
    else
        add_label(f, out, c, room);
    n = utf8_count(str_skip(buf_str(out), start));
    buf_add_pad(out, ' ', n < room ? room - n : 0);
}

/* ---- colours ---- */

/* Functions of a package or class have one hue, each its own lightness. */
static struct rgb colour_of_name(struct str name)
{
    struct str family = name;
    uint64_t hue, shade;

    for (size_t i = 0; i < name.n; i++) {
        bool is_end = name.s[i] == '.' || name.s[i] == '(' ||
                      name.s[i] == '<' || name.s[i] == '+';

        if (name.s[i] == '/' ||
            (i + 1 < name.n && name.s[i] == ':' && name.s[i + 1] == ':'))
            family = str_first(name, i);
        else if (is_end) {
            family = str_first(name, i);
            break;
        }
    }
    hue = map_mix(17, str_hash(family)) >> 32 & 1023;
    shade = map_mix(29, str_hash(name)) >> 32 & 1023;
    return rgb_from_hsl((double)hue / 1024, 0.62,
                        0.70 + 0.12 * (double)shade / 1024);
}

/* From blue (it was far more) over grey to red (all of it is new).  The
 * steps are exact in 256 colours, too. */
static struct rgb colour_of_change(struct amounts a)
{
    static const struct rgb grew[] = {{0xd7, 0xd7, 0xd7},
                                      {0xff, 0xd7, 0xd7},
                                      {0xff, 0xaf, 0xaf},
                                      {0xff, 0x87, 0x87},
                                      {0xff, 0x5f, 0x5f}};
    static const struct rgb shrank[] = {{0xd7, 0xd7, 0xd7},
                                        {0xd7, 0xd7, 0xff},
                                        {0xaf, 0xd7, 0xff},
                                        {0x87, 0xaf, 0xff},
                                        {0x5f, 0x87, 0xff}};
    double larger = fmax((double)a.before, (double)a.after);
    double change = larger > 0 ? (double)amounts_grew(a) / larger : 0;
    int step = (int)lround(4 * sqrt(fmin(fabs(change), 1)));

    return change > 0 ? grew[step] : shrank[step];
}

static struct rgb colour_of(const struct flame *f, const struct cell *c)
{
    const struct tree_node *n = &f->tree.nodes.v[c->node];

    if (c->narrow > 0)
        return (struct rgb){0xc0, 0xc0, 0xc0};
    if (f->stacks.has_base)
        return colour_of_change(n->amounts);
    return colour_of_name(f->stacks.names.v[n->frame].name);
}

/* ---- rows ---- */

/* A column that two cells share (either may be none): the left one fills
 * `eighths` of it. */
static void add_edge(const struct flame *f, const struct cell *left,
                     const struct cell *right, int eighths)
{
    static const char *const blocks[] = {" ", "▏", "▎", "▍",
                                         "▌", "▋", "▊", "▉"};

    if (!left && !right) {
        buf_add_char(f->ansi.out, ' ');
        return;
    }
    if (left)
        ansi_foreground(&f->ansi, colour_of(f, left));
    if (left && right)
        ansi_background(&f->ansi, colour_of(f, right));
    if (!left) { /* draw what is missing, and swap */
        ansi_foreground(&f->ansi, colour_of(f, right));
        ansi_reverse(&f->ansi);
    }
    buf_add(f->ansi.out, str_from(blocks[eighths]));
    ansi_reset(&f->ansi);
}

static const struct cell *owner_at(const struct flame *f,
                                   const cell_list *cells, size_t eighth)
{
    uint32_t owner = f->owner[eighth];

    return owner == NO_INDEX ? NULL : &cells->v[owner];
}

/* The columns from `column` on that belong to one cell alone. */
static size_t run_of(const struct flame *f, size_t column)
{
    uint32_t owner = f->owner[column * EIGHTHS];
    size_t i = column * EIGHTHS;

    while (i < f->columns * EIGHTHS && f->owner[i] == owner)
        i++;
    return i / EIGHTHS - column;
}

/* A cell's columns: a thin line, which parts it from its neighbour whatever
 * the colours are, and the label. */
static void add_box(const struct flame *f, const struct cell *c, size_t width)
{
    const struct rgb black = {0, 0, 0};
    struct rgb colour = colour_of(f, c);

    ansi_background(&f->ansi, colour);
    ansi_foreground(&f->ansi, rgb_darker(colour));
    buf_add(f->ansi.out, STR("▏"));
    ansi_foreground(&f->ansi, black);
    add_text(f, f->ansi.out, c, width - 1);
    ansi_reset(&f->ansi);
}

static void draw_row(struct flame *f, const cell_list *cells)
{
    struct buf *out = f->ansi.out;
    size_t n = f->columns * EIGHTHS, column = 0;

    for (size_t i = 0; i < n; i++)
        f->owner[i] = NO_INDEX;
    for (size_t i = 0; i < cells->n; i++)
        for (size_t k = (size_t)lround(cells->v[i].from);
             k < n && k < (size_t)lround(cells->v[i].to); k++)
            f->owner[k] = (uint32_t)i;
    while (column < f->columns) {
        const struct cell *c = owner_at(f, cells, column * EIGHTHS);
        size_t run = run_of(f, column);

        if (run == 0) {
            int edge = 1;

            while (f->owner[column * EIGHTHS + (size_t)edge] ==
                   f->owner[column * EIGHTHS])
                edge++;
            add_edge(f, c, owner_at(f, cells, column * EIGHTHS + 7), edge);
            column++;
            continue;
        }
        column += run;
        if (!c) {
            buf_add_pad(out, ' ', run);
            continue;
        }
        add_box(f, c, run);
    }
}

static void draw_plain_row(struct flame *f, const cell_list *cells)
{
    struct buf *out = f->ansi.out;
    size_t column = 0;

    for (size_t i = 0; i < cells->n; i++) {
        const struct cell *c = &cells->v[i];
        size_t from = (size_t)lround(c->from / EIGHTHS);
        size_t to = (size_t)lround(c->to / EIGHTHS);

        buf_add_pad(out, ' ', from - column);
        buf_add(out, STR("▏"));
        add_text(f, out, c, to - from - 2);
        buf_add(out, STR("▕"));
        column = to;
    }
}

static void draw(struct flame *f)
{
    struct buf *out = f->ansi.out;
    cell_list cells = {0}, next = {0};
    struct cell all = {.to = (double)(f->columns * EIGHTHS)};

    lay_out_callees(f, &all, &next);
    while (next.n > 0) {
        cell_list swap = cells;

        cells = next;
        next = swap;
        next.n = 0;
        if (f->colour)
            draw_row(f, &cells);
        else
            draw_plain_row(f, &cells);
        while (out->len > 0 && out->data[out->len - 1] == ' ')
            out->len--;
        buf_add_char(out, '\n');
        for (size_t i = 0; i < cells.n; i++)
            lay_out_callees(f, &cells.v[i], &next);
    }
}

/* ---- what stands around the picture ---- */

static void add_title(const struct flame *f)
{
    const struct report *r = f->report;
    struct buf *out = f->ansi.out;
    struct amounts all = f->tree.nodes.v[0].amounts;

    buf_add(out, r->sample_type);
    if (r->title.n > 0) {
        buf_add(out, STR(" of "));
        buf_add(out, r->title);
    }
    buf_add(out, STR(": "));
    report_add_value(r, out, all.after);
    if (f->stacks.has_base) {
        buf_add(out, STR(" after, "));
        report_add_value(r, out, all.before);
        buf_add(out, STR(" before"));
    } else if (r->profile->duration_ns != 0) {
        buf_add(out, STR(" in "));
        measure_label(out, r->profile->duration_ns, STR("nanoseconds"),
                      STR("auto"));
    }
    buf_add_char(out, '\n');
}

static void add_notes(const struct flame *f)
{
    struct buf *out = f->ansi.out;

    if (f->narrow > 0)
        buf_addf(out,
                 "%zu frame%s too narrow to draw: a wider terminal or "
                 "-focus=REGEXP shows more.\n",
                 f->narrow, f->narrow == 1 ? " is" : "s are");
    if (f->stacks.has_base)
        buf_add(out, f->colour ? STR("Widths are what is now; red grew, blue "
                                     "shrank.\n")
                               : STR("Widths are what is now, amounts what "
                                     "changed.\n"));
    if (f->tree.gone > 0) {
        report_add_value(f->report, out, f->tree.gone);
        buf_add(out, STR(" is in stacks that are gone; -explain names "
                         "them.\n"));
    }
    if (f->tree.negative < 0) {
        report_add_value(f->report, out, f->tree.negative);
        buf_add(out, STR(" is in stacks with negative values, which cannot be "
                         "drawn.\n"));
    }
}

bool format_flame(struct report *r, struct buf *out, struct error *err)
{
    const struct report_request *q = r->request;
    struct flame f = {.report = r,
                      .ansi = {out, q->true_colour},
                      .colour = q->colour,
                      .columns = DEFAULT_COLUMNS};
    int64_t all;

    (void)err;
    if (q->columns > 0)
        f.columns =
            q->columns < LEAST_COLUMNS ? LEAST_COLUMNS : (size_t)q->columns;
    report_stacks_make(&f.stacks, r);
    stack_tree_make(&f.tree, r, &f.stacks);
    all = f.tree.nodes.v[0].amounts.after;
    add_title(&f);
    if (all > 0) {
        f.scale = (double)(f.columns * EIGHTHS) / (double)all;
        f.owner = arena_new_array(r->arena, uint32_t, f.columns * EIGHTHS);
        draw(&f);
    }
    add_notes(&f);
    return true;
}
