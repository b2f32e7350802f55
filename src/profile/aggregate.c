#include "profile/aggregate.h"

static void clear_mapping(struct mapping *m, struct granularity keep)
{
    m->has_inline_frames &= keep.inlines;
    m->has_functions &= keep.function;
    m->has_filenames &= keep.filename;
    m->has_line_numbers &= keep.line;
}

static void clear_function(struct function *f, struct granularity keep)
{
    if (!keep.function)
        f->name = f->system_name = 0;
    if (!keep.filename)
        f->filename = 0;
}

static void clear_location(struct location *l, struct granularity keep)
{
    if (!keep.inlines && l->n_lines > 1) {
        l->line_start += l->n_lines - 1;
        l->n_lines = 1;
    }
    if (!keep.address)
        l->address = 0;
}

static void clear_line(struct line *line, struct granularity keep)
{
    if (!keep.line)
        line->line = 0;
    if (!keep.line || !keep.column)
        line->column = 0;
}

void profile_aggregate(struct profile *p, struct granularity keep)
{
    for (size_t i = 0; i < p->mappings.n; i++)
        clear_mapping(&p->mappings.v[i], keep);
    for (size_t i = 0; i < p->functions.n; i++)
        clear_function(&p->functions.v[i], keep);
    for (size_t i = 0; i < p->locations.n; i++)
        clear_location(&p->locations.v[i], keep);
    for (size_t i = 0; i < p->lines.n; i++)
        clear_line(&p->lines.v[i], keep);
}
