/*
 * -topproto: the table of -top as a profile of its own, one sample a row with
 * the values cum and flat.
 */
#include "base/number.h"
#include "profile/encode.h"
#include "report/graph/trim.h"

static string_id copy_string(struct profile *to, const struct profile *from,
                             string_id id)
{
    return profile_intern(to, profile_str(from, id));
}

static struct profile *new_profile(const struct report *r)
{
    const struct profile *from = r->profile;
    struct profile *p = profile_new();
    string_id unit = profile_intern(p, r->output_unit);

    *vec_push(p->arena, &p->types) =
        (struct value_type){profile_intern(p, STR("cum")), unit};
    *vec_push(p->arena, &p->types) =
        (struct value_type){profile_intern(p, STR("flat")), unit};
    p->time_ns = from->time_ns;
    p->duration_ns = from->duration_ns;
    p->period_type.type = copy_string(p, from, from->period_type.type);
    p->period_type.unit = copy_string(p, from, from->period_type.unit);
    p->period = from->period;
    return p;
}

/* Rows of equal name, file and start line share a function. */
static uint32_t function_of(struct profile *p, struct map *index,
                            const struct frame *f)
{
    struct function new = {
        .id = p->functions.n + 1,
        .name = profile_intern(p, f->name),
        .filename = profile_intern(p, f->file),
        .start_line = f->start_line,
    };
    uint64_t hash =
        map_mix(index->seed, (uint64_t) new.name << 32 | new.filename);
    struct map_cursor c =
        map_find(index, map_mix(hash, (uint64_t) new.start_line));

    while (map_next(index, &c)) {
        const struct function *old = &p->functions.v[c.record];

        if (old->name == new.name && old->filename == new.filename &&
            old->start_line == new.start_line)
            return c.record;
    }
    map_add(index, &c, (uint32_t)p->functions.n);
    *vec_push(p->arena, &p->functions) = new;
    return (uint32_t)(p->functions.n - 1);
}

static int64_t scaled(const struct report *r, int64_t value)
{
    struct str unit;

    return number_trunc(
        measure_scale(value, r->sample_unit, r->output_unit, &unit));
}

static void add_row(struct profile *p, struct map *functions,
                    struct sample_builder *samples, const struct frame *f,
                    const int64_t *values)
{
    uint32_t location = (uint32_t)p->locations.n;

    *vec_push(p->arena, &p->lines) = (struct line){
        .function = function_of(p, functions, f),
        .line = f->line,
    };
    *vec_push(p->arena, &p->locations) = (struct location){
        .id = (uint64_t)location + 1,
        .address = f->address,
        .mapping = NO_INDEX,
        .line_start = location,
        .n_lines = 1,
    };
    sample_builder_frame(samples, location);
    sample_builder_end(samples, values);
}

bool format_topproto(struct report *r, struct buf *out, struct error *err)
{
    struct header_counts counts;
    struct sample_builder samples;
    struct profile *p;
    struct graph g;
    struct map functions;
    bool ok;

    graph_make(&g, r, GRAPH_NODES, &counts);
    p = new_profile(r);
    sample_builder_init(&samples, p);
    map_init(&functions, p->arena, 0);
    for (size_t i = 0; i < g.n_shown; i++) {
        const struct node *n = &g.nodes.v[g.shown[i]];
        struct frame f = node_frame(&g.table, n->info);
        int64_t values[2] = {
            scaled(r, node_cum(n)),
            scaled(r, node_flat(n)),
        };

        add_row(p, &functions, &samples, &f, values);
    }
    ok = profile_encode_gzip(p, out, err);
    profile_free(p);
    return ok;
}
