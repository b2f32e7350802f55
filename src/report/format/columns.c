#include "report/format/columns.h"

#include "base/utf8.h"
#include "base/vec.h"

struct row {
    struct str *cells; /* the last is the free text after the last tab */
    size_t n;
    bool ends_columns; /* a form feed follows */
};

struct columns {
    struct buf *out;
    struct arena *arena;
    struct row *rows;
    VEC(size_t) widths; /* of the columns around the rows being printed */
};

static void print_rows(struct columns *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct row *row = &c->rows[i];

        for (size_t j = 0; j < row->n; j++)
            buf_add_right(c->out, row->cells[j],
                          j < c->widths.n ? c->widths.v[j] : 0);
        buf_add_char(c->out, '\n');
    }
}

/* Prints rows of which each has cells in all columns of `widths`: finds the
 * runs that share one column more, and prints those within it. */
static void print_block(struct columns *c, size_t from, size_t to)
{
    size_t column = c->widths.n;

    for (size_t i = from; i < to; i++) {
        size_t width = 0;

        if (column + 1 >= c->rows[i].n)
            continue;
        print_rows(c, from, i);
        from = i;
        for (; i < to && column + 1 < c->rows[i].n; i++) {
            size_t w = utf8_count(c->rows[i].cells[column]) + 1;

            if (w > width)
                width = w;
            if (c->rows[i].ends_columns) {
                i++;
                break;
            }
        }
        *vec_push(c->arena, &c->widths) = width;
        print_block(c, from, i);
        c->widths.n--;
        from = i--;
    }
    print_rows(c, from, to);
}

/* Cuts a line off the text, into cells. */
static struct row next_row(struct arena *a, struct str *text)
{
    VEC(struct str) cells = {0};
    size_t start = 0, i = 0;
    struct row row = {0};

    for (; i < text->n && text->s[i] != '\n' && text->s[i] != '\f'; i++) {
        if (text->s[i] != '\t' && text->s[i] != '\v')
            continue;
        *vec_push(a, &cells) = str_of(text->s + start, i - start);
        start = i + 1;
    }
    *vec_push(a, &cells) = str_of(text->s + start, i - start);
    row.ends_columns = i < text->n && text->s[i] == '\f';
    row.cells = cells.v;
    row.n = cells.n;
    *text = str_skip(*text, i < text->n ? i + 1 : i);
    return row;
}

void columns_align_right(struct buf *out, struct arena *a, struct str text)
{
    struct columns c = {.out = out, .arena = a};
    VEC(struct row) rows = {0};

    while (text.n > 0) {
        struct row row = next_row(a, &text);

        *vec_push(a, &rows) = row;
    }
    c.rows = rows.v;
    print_block(&c, 0, rows.n);
}
