/*
 * -callgrind: the graph as valgrind's tool writes it, for KCachegrind.
 *
 * Names are written once and then called by their numbers; addresses are
 * relative to those of the node before where that is shorter.
 */
#include "base/number.h"
#include "report/graph/order.h"
#include "report/graph/trim.h"

/* Names that have a number: numbers[string id], 0 for none. */
struct names {
    VEC(uint32_t) numbers;
    uint32_t n;
};

/* A function: nodes that differ in address, line and column only. */
struct function_key {
    string_id name, file, object;
    int64_t start_line;
    uint32_t parent; /* in a call tree */
    uint32_t same;   /* the first function with this name and file */
    uint32_t number; /* among those, from 1 */
    uint32_t total;  /* of those; only in the first */
};

struct callgrind {
    struct graph graph;
    struct report *report;
    struct buf *out;
    struct names objects, files, functions;
    VEC(struct function_key) keys;
    uint32_t *key_of_node;
    bool has_previous;
    struct node_info previous; /* the node before */
};

static const struct node_info *info_of(const struct callgrind *c, uint32_t node)
{
    return &c->graph.table.infos.v[c->graph.nodes.v[node].info];
}

static bool same_function(const struct function_key *a,
                          const struct function_key *b)
{
    return a->name == b->name && a->file == b->file && a->object == b->object &&
           a->start_line == b->start_line && a->parent == b->parent;
}

/* Finds the record for which `same` holds, or adds one for the key. */
static uint32_t find_key(struct callgrind *c, struct map *m, uint64_t hash,
                         const struct function_key *key, bool whole)
{
    struct map_cursor at = map_find(m, hash);

    while (map_next(m, &at)) {
        const struct function_key *k = &c->keys.v[at.record];

        if (k->name == key->name && k->file == key->file &&
            (!whole || same_function(k, key)))
            return at.record;
    }
    map_add(m, &at, (uint32_t)c->keys.n);
    return (uint32_t)c->keys.n;
}

/*
 * Callgrind takes functions with equal name and file for one.  Where several
 * are, they get "[2/3]" behind the name.
 */
static void number_functions(struct callgrind *c)
{
    struct graph *g = &c->graph;
    struct map by_name, by_key;

    map_init(&by_name, g->arena, 0);
    map_init(&by_key, g->arena, 0);
    c->key_of_node = arena_new_array(g->arena, uint32_t, g->nodes.n);
    for (size_t i = 0; i < g->n_shown; i++) {
        uint32_t node = g->shown[i], at;
        const struct node_info *info = info_of(c, node);
        struct function_key key = {
            .name = info->name,
            .file = info->file,
            .object = info->object,
            .start_line = info->start_line,
            .parent = g->is_tree ? g->tree.parents.v[node] : 0,
        };
        uint64_t words = (uint64_t)key.name << 32 | key.file;

        at = find_key(c, &by_key,
                      map_mix(map_mix(map_mix(by_key.seed, words),
                                      (uint64_t)key.start_line),
                              (uint64_t)key.object << 32 | key.parent),
                      &key, true);
        c->key_of_node[node] = at;
        if (at < c->keys.n)
            continue;
        key.same =
            find_key(c, &by_name, map_mix(by_name.seed, words), &key, false);
        *vec_push(g->arena, &c->keys) = key;
        c->keys.v[at].number = ++c->keys.v[key.same].total;
    }
}

/* "(3) main", or "(3)" when it was named before. */
static void add_name(struct callgrind *c, struct str what, struct names *names,
                     string_id id)
{
    buf_add(c->out, what);
    if (id != 0) {
        if (id >= names->numbers.n) {
            vec_reserve(c->graph.arena, &names->numbers,
                        id + 1 - names->numbers.n);
            names->numbers.n = (size_t)id + 1;
        }
        bool is_new = names->numbers.v[id] == 0;

        if (is_new)
            names->numbers.v[id] = ++names->n;
        buf_add_char(c->out, '(');
        buf_add_u64(c->out, names->numbers.v[id]);
        buf_add_char(c->out, ')');
        if (is_new) {
            buf_add_char(c->out, ' ');
            buf_add(c->out, profile_str(c->report->profile, id));
        }
    }
    buf_add_char(c->out, '\n');
}

/* The name of a called function; a node that is not shown has none. */
static string_id callee_name(struct callgrind *c, uint32_t node)
{
    struct profile *p = c->report->profile;
    const struct function_key *key = &c->keys.v[c->key_of_node[node]];
    uint32_t total;
    struct buf text = arena_buf(c->report->arena);
    string_id id;

    if (!c->graph.is_shown[node])
        return 0;
    total = c->keys.v[key->same].total;
    if (total < 2)
        return key->name;
    buf_add(&text, profile_str(p, key->name));
    buf_addf(&text, " [%u/%u]", key->number, total);
    id = profile_intern(p, buf_str(&text));
    buf_release(&text);
    return id;
}

static void add_address(struct callgrind *c, uint64_t address)
{
    char relative[NUMBER_I64_MAX + 1], absolute[NUMBER_HEX_MAX];
    int64_t distance = (int64_t)(address - c->previous.address);
    size_t n = 0;

    if (c->has_previous && distance == 0) {
        buf_add_char(c->out, '*');
        return;
    }
    if (distance > 0)
        relative[n++] = '+';
    n += number_put_i64(relative + n, distance);
    if (c->has_previous && n < number_put_hex(absolute, address) + 2)
        buf_add_bytes(c->out, relative, n);
    else
        buf_add_hex(c->out, address);
}

static void add_cost(struct callgrind *c, int64_t value)
{
    struct str unit;

    buf_add_i64(c->out,
                number_trunc(measure_scale(value, c->report->sample_unit,
                                           c->report->output_unit, &unit)));
    buf_add_char(c->out, '\n');
}

static void add_calls(struct callgrind *c, uint32_t node)
{
    const struct edges *e = &c->graph.edges;
    size_t start = e->out_start[node], n;
    uint32_t *out = edges_sorted(&c->graph, e->out + start,
                                 e->out_start[node + 1] - start, &n);

    for (size_t i = 0; i < n; i++) {
        const struct edge *edge = &e->all.v[out[i]];
        const struct node_info *callee = info_of(c, edge->dst);

        add_name(c, STR("cfl="), &c->files, callee->file);
        add_name(c, STR("cfn="), &c->functions, callee_name(c, edge->dst));
        buf_add(c->out, STR("calls=0 "));
        add_address(c, callee->address);
        buf_add_char(c->out, ' ');
        buf_add_i64(c->out, callee->line);
        buf_add(c->out, STR("\n* * "));
        add_cost(c, edge->weight);
    }
}

static bool starts_function(const struct callgrind *c,
                            const struct node_info *info)
{
    return !c->has_previous || info->object != c->previous.object ||
           info->file != c->previous.file || info->name != c->previous.name;
}

static void add_node(struct callgrind *c, uint32_t node)
{
    const struct node_info *info = info_of(c, node);

    if (starts_function(c, info)) {
        buf_add_char(c->out, '\n');
        add_name(c, STR("ob="), &c->objects, info->object);
        add_name(c, STR("fl="), &c->files, info->file);
        add_name(c, STR("fn="), &c->functions, info->name);
    }
    add_address(c, info->address);
    buf_add_char(c->out, ' ');
    buf_add_i64(c->out, info->line);
    buf_add_char(c->out, ' ');
    add_cost(c, node_flat(&c->graph.nodes.v[node]));
    add_calls(c, node);
    c->has_previous = true;
    c->previous = *info;
}

bool format_callgrind(struct report *r, struct buf *out, struct error *err)
{
    struct callgrind c = {.report = r, .out = out};
    struct header_counts counts;

    (void)err;
    graph_make(&c.graph, r, GRAPH_EDGES, &counts);
    number_functions(&c);
    buf_add(out, STR("positions: instr line\nevents: "));
    buf_add(out, r->sample_type);
    buf_add_char(out, '(');
    buf_add(out, r->output_unit);
    buf_add(out, STR(")\n"));
    for (size_t i = 0; i < c.graph.n_shown; i++)
        add_node(&c, c.graph.shown[i]);
    return true;
}
