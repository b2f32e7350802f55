/*
 * Makes a profile like that of a large service, the same for the same
 * arguments:
 *
 *     gen-profile -samples 1000000 -o million.pb.gz
 *     gen-profile -samples 1000000 -run 2 -o later.pb.gz   (same program)
 *
 * The program behind the profile is a graph: functions in levels, each with a
 * few call sites (locations), each site with one callee on a deeper level.
 * Few sites are hot and most are cold (Zipf), so stacks share their roots,
 * meet again in common leaves, and differ in between.  A sample is a walk
 * from a root; equal walks are one sample, as profilers write them.  Some
 * sites carry inlined frames, some calls recurse.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/encode.h"
#include "profile/profile.h"

enum {
    LEVELS = 40,
    MIN_FUNCTIONS = 1000, /* enough for every level to have some */
    MAX_DEPTH = 256,
    PERIOD_NS = 10000000,
    CORES = 32,
};

struct options {
    size_t samples, locations, functions;
    unsigned depth; /* of the average stack */
    uint64_t seed;  /* which program */
    uint64_t run;   /* which profile of it */
    bool labels;
    const char *output; /* NULL: standard output */
};

struct site {
    uint32_t callee;
    uint32_t inlined;  /* a function, or NO_INDEX */
    uint32_t location; /* in the profile, once it was visited */
    uint64_t address;
};

struct node { /* a function of the program */
    uint32_t first_site, n_sites;
    uint32_t function; /* in the profile, once it was visited */
};

struct program {
    struct node *nodes;
    struct site *sites;
    size_t n_nodes, n_sites;
    uint32_t level_start[LEVELS + 1]; /* nodes are sorted by level */
};

struct generator {
    struct options options;
    uint64_t random;
    struct program program;
    struct profile *profile;
    struct sample_builder builder;
    struct map seen; /* stacks, by hash */
};

/* splitmix64: small, fast, and the same everywhere. */
static uint64_t next_random(struct generator *g)
{
    uint64_t z = g->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(struct generator *g, size_t n)
{
    return (uint32_t)((next_random(g) >> 32) * n >> 32);
}

/* 0 is the most likely, k about k times less: an octave by chance, then any
 * in it.  Integers only, so that no libm can change the result. */
static uint32_t zipf_below(struct generator *g, size_t n)
{
    unsigned octaves = 64 - (unsigned)__builtin_clzll(n);

    for (;;) {
        size_t first = (size_t)1 << below(g, octaves);
        size_t k = first - 1 + below(g, first);

        if (k < n)
            return (uint32_t)k;
    }
}

static bool one_in(struct generator *g, size_t n)
{
    return below(g, n) == 0;
}

/* Which level a share of the functions is on: few roots, most in the middle
 * and below. */
static void lay_out_levels(struct program *p)
{
    size_t weights = 0, sum = 0;

    for (size_t level = 0; level < LEVELS; level++)
        weights += (level + 1) * (level < 30 ? 3 : 1);
    for (size_t level = 0; level < LEVELS; level++) {
        p->level_start[level] = (uint32_t)(p->n_nodes * sum / weights);
        sum += (level + 1) * (level < 30 ? 3 : 1);
    }
    p->level_start[LEVELS] = (uint32_t)p->n_nodes;
}

static uint32_t pick_callee(struct generator *g, size_t level, uint32_t self)
{
    const struct program *p = &g->program;
    size_t down = one_in(g, 6) ? 2 : 1;
    uint32_t start, end;

    if (one_in(g, 50))
        return self;
    if (level + down >= LEVELS)
        down = LEVELS - 1 - level;
    start = p->level_start[level + down];
    end = p->level_start[level + down + 1];
    if (start == end)
        return self;
    return start + zipf_below(g, end - start);
}

/*
 * Gives every function its share of sites and every site a callee.  In each
 * level the first sites call the functions of the next one in turn, so that
 * every function has a caller.
 */
static void make_program(struct generator *g, struct arena *a)
{
    struct program *p = &g->program;
    uint32_t site = 0;

    p->n_nodes = g->options.functions;
    p->n_sites = g->options.locations;
    p->nodes = arena_new_array(a, struct node, p->n_nodes);
    p->sites = arena_new_array(a, struct site, p->n_sites);
    lay_out_levels(p);
    for (size_t level = 0; level < LEVELS; level++) {
        uint32_t end = p->level_start[level + 1];
        uint32_t next = end,
                 next_end =
                     p->level_start[level < LEVELS - 1 ? level + 2 : LEVELS];

        for (uint32_t f = p->level_start[level]; f < end; f++) {
            uint32_t last =
                (uint32_t)((uint64_t)(f + 1) * p->n_sites / p->n_nodes);

            p->nodes[f] = (struct node){site, last - site, NO_INDEX};
            for (; site < last; site++)
                p->sites[site] = (struct site){
                    .callee = next < next_end && one_in(g, 2)
                                  ? next++
                                  : pick_callee(g, level, f),
                    .inlined =
                        one_in(g, 5) ? pick_callee(g, level, f) : NO_INDEX,
                    .location = NO_INDEX,
                    .address = 16 * (uint64_t)site + below(g, 16),
                };
        }
    }
}

static const char *const packages[] = {
    "api",    "auth",   "billing", "cache",  "codec",   "config", "core",
    "crypto", "db",     "feed",    "grpc",   "http2",   "index",  "json",
    "kv",     "ledger", "metrics", "net",    "proto",   "query",  "queue",
    "raft",   "rpc",    "search",  "server", "session", "shard",  "storage",
    "stream", "text",   "trace",   "wal"};
static const char *const things[] = {
    "Buffer",  "Channel",  "Client",  "Cursor",   "Decoder", "Encoder",
    "Handler", "Iterator", "Manager", "Message",  "Node",    "Parser",
    "Pool",    "Reader",   "Request", "Response", "Router",  "Scheduler",
    "Session", "Shard",    "Table",   "Task",     "Tree",    "Writer"};
static const char *const verbs[] = {
    "Add",    "Apply", "Close", "Commit", "Compare", "Copy",    "Decode",
    "Encode", "Find",  "Flush", "Get",    "Handle",  "Insert",  "Load",
    "Lookup", "Merge", "Next",  "Open",   "Parse",   "Process", "Read",
    "Resize", "Run",   "Scan",  "Send",   "Serve",   "Split",   "Sync",
    "Update", "Visit", "Wait",  "Write"};

#define PICK(words, i) (words)[(i) % (sizeof(words) / sizeof(*(words)))]

static const struct {
    const char *file, *build_id;
} binaries[] = {
    {"/opt/service/bin/service", "8a1f0c52e94b7d3360d2a75f11c98e04"},
    {"/opt/service/lib/libstdc++.so.6.0.30", "77ce0a3b51d94f2e"},
    {"/opt/service/lib/libc.so.6", "1d3b92c8f0e74a65"},
    {"/opt/service/lib/libcrypto.so.3", "5e90c6d7a2b14f38"},
    {"[vdso]", ""},
};

#define N_BINARIES (sizeof(binaries) / sizeof(*binaries))

/* Most functions are the program's own. */
static uint32_t mapping_of(uint32_t function)
{
    uint32_t k = function * 2654435761u >> 24;

    return k < 216 ? 0 : k < 232 ? 1 : k < 244 ? 2 : k < 255 ? 3 : 4;
}

static uint64_t mapping_start(uint32_t mapping)
{
    return mapping == 0 ? 0x400000 : 0x7f0000000000u + mapping * 0x40000000ul;
}

static void add_mappings(struct profile *p)
{
    for (uint32_t i = 0; i < N_BINARIES; i++) {
        struct mapping m = {
            .id = i + 1,
            .start = mapping_start(i),
            .limit = mapping_start(i) + 0x20000000,
            .file = profile_intern(p, str_from(binaries[i].file)),
            .build_id = profile_intern(p, str_from(binaries[i].build_id)),
            .has_functions = true,
            .has_filenames = true,
            .has_line_numbers = true,
            .has_inline_frames = true,
        };

        *vec_push(p->arena, &p->mappings) = m;
    }
}

/* The profile's function for a node, made at the first visit. */
static uint32_t function_of(struct generator *g, uint32_t node)
{
    struct profile *p = g->profile;
    struct node *n = &g->program.nodes[node];
    const char *package = PICK(packages, node * 7u / 5u);
    const char *thing = PICK(things, node * 11u / 7u);
    const char *verb = PICK(verbs, node);
    char name[160], system_name[160], file[160];

    if (n->function != NO_INDEX)
        return n->function;
    snprintf(name, sizeof(name), "%s::%s%" PRIu32 "::%s", package, thing,
             node / 32, verb);
    snprintf(system_name, sizeof(system_name),
             "_ZN%zu%s%zu%s%" PRIu32 "%zu%sEv", strlen(package), package,
             strlen(thing) + (size_t)snprintf(NULL, 0, "%" PRIu32, node / 32),
             thing, node / 32, strlen(verb), verb);
    snprintf(file, sizeof(file), "/build/service/src/%s/%s_%" PRIu32 ".cc",
             package, thing, node / 320);
    n->function = (uint32_t)p->functions.n;
    *vec_push(p->arena, &p->functions) = (struct function){
        .id = p->functions.n + 1,
        .name = profile_intern(p, str_from(name)),
        .system_name = profile_intern(p, str_from(system_name)),
        .filename = profile_intern(p, str_from(file)),
        .start_line = 10 + node % 320 * 25,
    };
    return n->function;
}

static void add_line(struct generator *g, uint32_t node, uint32_t site)
{
    struct profile *p = g->profile;
    uint32_t function = function_of(g, node);

    *vec_push(p->arena, &p->lines) = (struct line){
        .function = function,
        .line = p->functions.v[function].start_line + 1 + site % 20,
    };
}

/* The profile's location for a site of a node, made at the first visit. */
static uint32_t location_of(struct generator *g, uint32_t node, uint32_t site)
{
    struct profile *p = g->profile;
    struct site *s = &g->program.sites[site];
    uint32_t mapping = mapping_of(node);
    struct location l = {
        .id = p->locations.n + 1,
        .address = mapping_start(mapping) + 0x1000 + s->address,
        .mapping = mapping,
        .line_start = (uint32_t)p->lines.n,
    };

    if (s->location != NO_INDEX)
        return s->location;
    if (s->inlined != NO_INDEX)
        add_line(g, s->inlined, site);
    add_line(g, node, site);
    l.n_lines = (uint32_t)p->lines.n - l.line_start;
    s->location = (uint32_t)p->locations.n;
    *vec_push(p->arena, &p->locations) = l;
    return s->location;
}

/* Which call of a function is under way: mostly one and the same, but one
 * walk in eight is through parts that are rarely run. */
static uint32_t pick_site(struct generator *g, const struct node *f, bool rare)
{
    if (rare)
        return f->first_site + below(g, f->n_sites);
    if (below(g, 100) < 70)
        return f->first_site;
    return f->first_site + zipf_below(g, f->n_sites);
}

/*
 * A walk from a root, written root first; its length.  Most end in one of the
 * few functions where the time goes: copying, allocating, locking.
 */
static size_t walk(struct generator *g, uint32_t *nodes, uint32_t *sites)
{
    const struct program *p = &g->program;
    uint32_t hot = (uint32_t)p->n_nodes - p->level_start[LEVELS - 1];
    size_t roots = p->level_start[1];
    size_t depth = (g->options.depth + 1) / 2 + below(g, g->options.depth);
    bool rare = one_in(g, 8);
    uint32_t node = rare ? below(g, roots) : zipf_below(g, roots);
    size_t n = 0;

    while (n < depth) {
        const struct node *f = &p->nodes[node];

        nodes[n] = node;
        sites[n] = pick_site(g, f, rare);
        node = p->sites[sites[n]].callee;
        if (++n + 1 == depth && !one_in(g, 4))
            node = p->level_start[LEVELS - 1] + zipf_below(g, hot);
    }
    return n;
}

/* Two stacks with one hash count as one; another walk is taken then. */
static bool is_new(struct generator *g, const uint32_t *sites, size_t n)
{
    struct map_cursor c;
    uint64_t hash = n;

    for (size_t i = 0; i < n; i++)
        hash = map_mix(hash, sites[i]);
    c = map_find(&g->seen, hash);
    if (map_next(&g->seen, &c))
        return false;
    map_add(&g->seen, &c, (uint32_t)g->seen.n);
    return true;
}

static void add_labels(struct generator *g)
{
    struct profile *p = g->profile;
    char text[32];
    struct label label = {.kind = LABEL_STRING};

    snprintf(text, sizeof(text), "worker-%" PRIu32, below(g, 64));
    label.key = profile_intern(p, STR("thread"));
    label.str = profile_intern(p, str_from(text));
    sample_builder_label(&g->builder, label);
    if (!one_in(g, 4))
        return;
    label.kind = LABEL_MEASURE;
    label.key = profile_intern(p, STR("request"));
    label.str = profile_intern(p, STR("bytes"));
    label.num = (int64_t)1 << (4 + below(g, 12));
    sample_builder_label(&g->builder, label);
}

static void add_sample(struct generator *g)
{
    uint32_t nodes[MAX_DEPTH], sites[MAX_DEPTH];
    int64_t count = 1 + zipf_below(g, 32);
    size_t n = walk(g, nodes, sites);

    /* A small program may not have enough walks: take one again then. */
    for (int tries = 0; tries < 20 && !is_new(g, sites, n); tries++)
        n = walk(g, nodes, sites);
    for (size_t i = n; i-- > 0;)
        sample_builder_frame(&g->builder, location_of(g, nodes[i], sites[i]));
    if (g->options.labels)
        add_labels(g);
    sample_builder_end(&g->builder, (int64_t[]){count, count * PERIOD_NS});
}

static struct value_type value_type(struct profile *p, const char *type,
                                    const char *unit)
{
    return (struct value_type){profile_intern(p, str_from(type)),
                               profile_intern(p, str_from(unit))};
}

static struct profile *generate(const struct options *options)
{
    struct profile *p = profile_new();
    struct arena *a = arena_new();
    struct generator g = {
        .options = *options, .random = options->seed, .profile = p};

    *vec_push(p->arena, &p->types) = value_type(p, "samples", "count");
    *vec_push(p->arena, &p->types) = value_type(p, "cpu", "nanoseconds");
    p->period_type = value_type(p, "cpu", "nanoseconds");
    p->period = PERIOD_NS;
    p->time_ns = 1700000000000000000;
    add_mappings(p);
    make_program(&g, a);
    g.random = options->run * 1000003 + options->seed;
    map_init(&g.seen, a, options->samples);
    sample_builder_init(&g.builder, p);
    for (size_t i = 0; i < options->samples; i++) {
        add_sample(&g);
        p->duration_ns += p->values[2 * i + 1] / CORES;
    }
    arena_free(a);
    return p;
}

static size_t number(const char *text)
{
    uint64_t n;

    if (!str_to_u64(str_from(text), 10, &n) || n > UINT32_MAX / 2) {
        fprintf(stderr, "gen-profile: not a number: %s\n", text);
        exit(2);
    }
    return n;
}

static struct options parse_arguments(int argc, char **argv)
{
    static const struct option names[] = {
        {"samples", required_argument, NULL, 's'},
        {"locations", required_argument, NULL, 'l'},
        {"functions", required_argument, NULL, 'f'},
        {"depth", required_argument, NULL, 'd'},
        {"seed", required_argument, NULL, 'p'},
        {"run", required_argument, NULL, 'r'},
        {"labels", no_argument, NULL, 'L'},
        {"o", required_argument, NULL, 'o'},
        {0},
    };
    struct options o = {.samples = 1000,
                        .locations = 275000,
                        .functions = 54000,
                        .depth = 24,
                        .seed = 1,
                        .run = 1};
    int c;

    while ((c = getopt_long_only(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 's':
            o.samples = number(optarg);
            break;
        case 'l':
            o.locations = number(optarg);
            break;
        case 'f':
            o.functions = number(optarg);
            break;
        case 'd':
            o.depth = (unsigned)number(optarg);
            break;
        case 'p':
            o.seed = number(optarg);
            break;
        case 'r':
            o.run = number(optarg);
            break;
        case 'L':
            o.labels = true;
            break;
        case 'o':
            o.output = optarg;
            break;
        default:
            exit(2);
        }
    }
    if (optind < argc || o.functions < MIN_FUNCTIONS ||
        o.locations < o.functions || o.depth == 0 || o.depth > MAX_DEPTH / 2) {
        fprintf(stderr,
                "usage: gen-profile [-samples N] [-locations N] [-functions N]"
                " [-depth N]\n                   [-seed N] [-run N] [-labels] "
                "[-o FILE]\n"
                "at least %d functions, as many locations, depth 1 to %d\n",
                MIN_FUNCTIONS, MAX_DEPTH / 2);
        exit(2);
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options options = parse_arguments(argc, argv);
    struct profile *p = generate(&options);
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    if (!profile_encode_gzip(p, &bytes, &err) ||
        !(options.output ? file_write(options.output, buf_str(&bytes), &err)
                         : file_write_fd(1, "stdout", buf_str(&bytes), &err))) {
        fprintf(stderr, "gen-profile: %s\n", err.text);
        return 1;
    }
    fprintf(stderr, "%zu samples, %zu frames, %zu locations, %zu functions\n",
            p->n_samples, p->loc_start[p->n_samples], p->locations.n,
            p->functions.n);
    buf_release(&bytes);
    profile_free(p);
    return 0;
}
