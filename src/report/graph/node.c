/*
 * Nodes are looked up once per location, not once per frame: a large profile
 * has a hundred times more frames than locations.  Functions that are inlined
 * at a location are kept as a list outside the table, since few locations have
 * any.
 */
#include "report/graph/node.h"

#include <assert.h>

#include "base/path.h"
#include "report/path_trim.h"

/* What is needed while the table is made. */
struct maker {
    struct node_table *table;
    struct map index;
    bool objects;
    string_id *file_of_function;
};

static uint64_t hash_info(const struct node_info *i, uint64_t seed)
{
    uint64_t h = map_mix(seed, (uint64_t)i->name << 32 | i->file);

    h = map_mix(h, i->address);
    h = map_mix(h, (uint64_t)i->line);
    h = map_mix(h, (uint64_t)i->column);
    h = map_mix(h, (uint64_t)i->start_line);
    return map_mix(h, i->object);
}

static bool same_info(const struct node_info *a, const struct node_info *b)
{
    return a->name == b->name && a->file == b->file && a->object == b->object &&
           a->address == b->address && a->start_line == b->start_line &&
           a->line == b->line && a->column == b->column;
}

static uint32_t find_or_add(struct maker *m, const struct node_info *info)
{
    struct node_table *t = m->table;
    struct map_cursor c = map_find(&m->index, hash_info(info, m->index.seed));

    while (map_next(&m->index, &c))
        if (same_info(&t->infos.v[c.record], info))
            return c.record;
    assert(t->infos.n < NO_NODE);
    map_add(&m->index, &c, (uint32_t)t->infos.n);
    *vec_push(t->arena, &t->infos) = *info;
    return (uint32_t)(t->infos.n - 1);
}

static string_id object_of(const struct profile *p, const struct location *l)
{
    return l->mapping == NO_INDEX ? 0 : p->mappings.v[l->mapping].file;
}

static uint32_t node_of_line(struct maker *m, const struct location *l,
                             const struct line *line)
{
    const struct profile *p = m->table->profile;
    const struct function *f = &p->functions.v[line->function];
    struct node_info info = {
        .name = f->name,
        .file = m->file_of_function[line->function],
        .address = l->address,
        .line = line->line,
        .column = line->column,
    };

    if (m->objects || info.name == 0) {
        info.object = object_of(p, l);
        info.start_line = f->start_line;
    }
    return find_or_add(m, &info);
}

static uint32_t nodes_of_location(struct maker *m, const struct location *l)
{
    struct node_table *t = m->table;
    const struct profile *p = t->profile;
    const struct line *lines = p->lines.v + l->line_start;
    struct node_info bare = {
        .address = l->address,
        .object = object_of(p, l),
    };
    size_t start = t->lists.n, n = l->n_lines;

    if (n == 0)
        return find_or_add(m, &bare);
    if (n == 1)
        return node_of_line(m, l, lines);
    assert(start < NODE_LIST);
    vec_reserve(t->arena, &t->lists, n + 1);
    t->lists.n += n + 1;
    t->lists.v[start] = l->n_lines;
    if (n > t->longest_list)
        t->longest_list = n;
    for (size_t i = 0; i < n; i++)
        t->lists.v[start + n - i] = node_of_line(m, l, &lines[i]);
    return NODE_LIST | (uint32_t)start;
}

/* Cleaned and trimmed file names; functions share them, so each text is
 * worked on once. */
static string_id *clean_files(struct arena *a, struct profile *p,
                              const struct node_options *o)
{
    size_t n_strings = p->strings.n;
    string_id *cleaned = arena_new_array(a, string_id, n_strings);
    string_id *out = arena_new_array(a, string_id, p->functions.n);

    memset(cleaned, 0xff, n_strings * sizeof(*cleaned));
    for (size_t i = 0; i < p->functions.n; i++) {
        string_id file = p->functions.v[i].filename;
        struct str s = profile_str(p, file);

        if (cleaned[file] == NO_INDEX) {
            s = path_trim(s, o->trim_path, o->source_path);
            cleaned[file] = s.n ? profile_intern(p, path_clean(a, s)) : 0;
        }
        out[i] = cleaned[file];
    }
    return out;
}

void node_table_init(struct node_table *t, struct arena *a, struct profile *p,
                     const struct node_options *options)
{
    struct arena *scratch = arena_new();
    struct maker m = {.table = t, .objects = options->objects};

    *t = (struct node_table){.arena = a, .profile = p, .longest_list = 1};
    t->of_location = arena_new_array(a, uint32_t, p->locations.n);
    map_init(&m.index, scratch, p->functions.n);
    m.file_of_function = clean_files(scratch, p, options);
    for (size_t i = 0; i < p->locations.n; i++)
        t->of_location[i] = nodes_of_location(&m, &p->locations.v[i]);
    t->names = arena_new_array(a, struct str, t->infos.n);
    arena_free(scratch);
}

void node_table_keep(struct node_table *t, const bool *kept)
{
    for (size_t i = 0; i < t->profile->locations.n; i++) {
        uint32_t node = t->of_location[i];

        if (!(node & NODE_LIST) && node != NO_NODE && !kept[node])
            t->of_location[i] = NO_NODE;
    }
    for (size_t i = 0; i < t->lists.n; i += t->lists.v[i] + 1) {
        uint32_t *ids = &t->lists.v[i + 1];

        for (size_t k = 0; k < t->lists.v[i]; k++)
            if (ids[k] != NO_NODE && !kept[ids[k]])
                ids[k] = NO_NODE;
    }
}

struct frame node_frame(const struct node_table *t, uint32_t node)
{
    const struct profile *p = t->profile;
    const struct node_info *i = &t->infos.v[node];

    assert(node < t->infos.n);
    return (struct frame){
        .address = i->address,
        .name = profile_str(p, i->name),
        .file = profile_str(p, i->file),
        .object = profile_str(p, i->object),
        .start_line = i->start_line,
        .line = i->line,
        .column = i->column,
    };
}

struct str node_name(struct node_table *t, uint32_t node)
{
    struct buf text = arena_buf(t->arena);
    struct frame f;

    if (t->names[node].s)
        return t->names[node];
    f = node_frame(t, node);
    if (f.name.n && !f.address && !f.line && !f.file.n) {
        t->names[node] = f.name;
        return f.name;
    }
    frame_add_name(&text, &f);
    t->names[node] = buf_str(&text);
    return t->names[node];
}
