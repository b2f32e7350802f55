/*
 * A profile of the model as an intake: for formats that the fast reader does
 * not know.
 */
#include <string.h>

#include "store/grow.h"
#include "store/intake.h"

#define reserve(array, count) grow(&(array)->v, &(array)->cap, (count) + 1)

static bool make_room(struct intake *in, const struct profile *p)
{
    size_t frames = p->loc_start[p->n_samples];
    size_t labels = p->label_start[p->n_samples];

    return reserve(&in->strings, p->strings.n) &&
           reserve(&in->types, p->types.n) &&
           reserve(&in->mappings, p->mappings.n) &&
           reserve(&in->functions, p->functions.n) &&
           reserve(&in->locations, p->locations.n) &&
           reserve(&in->lines, p->lines.n) &&
           reserve(&in->samples, p->n_samples) && reserve(&in->stack, frames) &&
           reserve(&in->values, p->n_samples * p->types.n) &&
           reserve(&in->labels, labels) &&
           reserve(&in->comments, p->comments.n);
}

static void copy_tables(struct intake *in, const struct profile *p)
{
    for (size_t i = 0; i < p->strings.n; i++)
        in->strings.v[in->strings.n++] = p->strings.v[i];
    for (size_t i = 0; i < p->types.n; i++)
        in->types.v[in->types.n++] =
            (struct in_type){p->types.v[i].type, p->types.v[i].unit};
    for (size_t i = 0; i < p->mappings.n; i++) {
        const struct mapping *m = &p->mappings.v[i];

        in->mappings.v[in->mappings.n++] = (struct in_mapping){
            m->id,
            m->start,
            m->limit,
            m->offset,
            m->file,
            m->build_id,
            (uint32_t)m->has_functions | (uint32_t)m->has_filenames << 1 |
                (uint32_t)m->has_line_numbers << 2 |
                (uint32_t)m->has_inline_frames << 3};
    }
    for (size_t i = 0; i < p->functions.n; i++) {
        const struct function *f = &p->functions.v[i];

        in->functions.v[in->functions.n++] = (struct in_function){
            f->id, f->name, f->system_name, f->filename, f->start_line};
    }
    for (size_t i = 0; i < p->lines.n; i++)
        in->lines.v[in->lines.n++] = (struct in_line){
            p->lines.v[i].function, p->lines.v[i].line, p->lines.v[i].column};
    for (size_t i = 0; i < p->locations.n; i++) {
        const struct location *l = &p->locations.v[i];

        in->locations.v[in->locations.n++] =
            (struct in_location){l->id,         l->address, l->mapping,
                                 l->line_start, l->n_lines, l->is_folded};
    }
}

static void copy_samples(struct intake *in, const struct profile *p)
{
    size_t values = p->n_samples * p->types.n;

    for (size_t i = 0; i <= p->n_samples; i++)
        in->samples.v[i] =
            (struct in_sample){p->loc_start[i], p->label_start[i]};
    in->samples.n = p->n_samples;
    in->stack.n = p->loc_start[p->n_samples];
    in->values.n = values;
    if (in->stack.n)
        memcpy(in->stack.v, p->stack, in->stack.n * sizeof(*p->stack));
    if (values)
        memcpy(in->values.v, p->values, values * sizeof(*p->values));
    for (size_t i = 0; i < p->label_start[p->n_samples]; i++) {
        const struct label *l = &p->labels[i];

        in->labels.v[in->labels.n++] =
            (struct in_label){l->key, l->str, l->num, l->kind};
    }
}

bool intake_profile(struct intake *in, const struct profile *p)
{
    intake_clear(in);
    if (!make_room(in, p))
        return false;
    copy_tables(in, p);
    copy_samples(in, p);
    for (size_t i = 0; i < p->comments.n; i++)
        in->comments.v[in->comments.n++] = p->comments.v[i];
    in->drop_frames = p->drop_frames;
    in->keep_frames = p->keep_frames;
    in->default_type = p->default_type;
    in->doc_url = p->doc_url;
    in->period_type = p->period_type.type;
    in->period_unit = p->period_type.unit;
    in->time_ns = p->time_ns;
    in->duration_ns = p->duration_ns;
    in->period = p->period;
    return true;
}
