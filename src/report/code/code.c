/*
 * Three steps: which addresses of the samples lie in functions that match;
 * disassemble the code around them; give each instruction its frames and
 * record it under every interesting one.
 */
#include "report/code/code.h"

#include <stdlib.h>

#include "base/goparse.h"
#include "base/map.h"
#include "base/path.h"

#define EXPAND     500 /* bytes shown around a sampled address */
#define MAX_RANGES 25  /* pieces of code to disassemble, by weight */
#define NEAR       32  /* an unknown line is that of an instruction so near */

struct sampled {
    uint64_t address;
    uint32_t location;
    int64_t flat, cum;
    bool wanted;
};

struct range {
    uint64_t begin, end;
    uint32_t mapping;
    struct object *object;
    int64_t weight;
};

struct collector {
    struct report *report;
    struct profile *profile;
    const struct objects *objects;
    struct arena *arena;
    struct code *out;

    struct map by_address;
    VEC(struct sampled) sampled;
    uint64_t *synthetic; /* address of a location that has none */
    uint64_t next_synthetic;
    bool *interesting;      /* by string id: a function's name */
    struct object **object; /* by mapping */
    bool *opened;
    VEC(struct code_frame) frames;
};

bool code_argument_address(const struct report *r, uint64_t *out)
{
    struct str text = r->argument ? regex_pattern(r->argument) : STR("");
    int64_t number;

    if (text.n == 0 || text.s[0] < '0' || text.s[0] > '9' ||
        goparse_int(text, 0, 64, &number) != GOPARSE_OK)
        return false;
    *out = (uint64_t)number;
    return true;
}

/* --- which addresses ---------------------------------------------------- */

static uint64_t address_of(struct collector *c, uint32_t location)
{
    uint64_t address = c->profile->locations.v[location].address;

    if (address)
        return address;
    if (!c->synthetic[location])
        c->synthetic[location] = c->next_synthetic++;
    return c->synthetic[location];
}

static struct sampled *sampled_at(struct collector *c, uint64_t address,
                                  uint32_t location)
{
    struct map_cursor m = map_find(&c->by_address, map_mix(0, address));

    while (map_next(&c->by_address, &m))
        if (c->sampled.v[m.record].address == address)
            return &c->sampled.v[m.record];
    map_add(&c->by_address, &m, (uint32_t)c->sampled.n);
    *vec_push(c->arena, &c->sampled) =
        (struct sampled){.address = address, .location = location};
    return &c->sampled.v[c->sampled.n - 1];
}

static const struct sampled *find_sampled(const struct collector *c,
                                          uint64_t address)
{
    struct map_cursor m = map_find(&c->by_address, map_mix(0, address));

    while (map_next(&c->by_address, &m))
        if (c->sampled.v[m.record].address == address)
            return &c->sampled.v[m.record];
    return NULL;
}

static void mark(struct collector *c, struct sampled *s, uint32_t line)
{
    const struct profile *p = c->profile;
    const struct function *f = &p->functions.v[p->lines.v[line].function];

    c->interesting[f->name] = true;
    c->interesting[f->system_name] = true;
    s->wanted = true;
}

static bool function_matches(const struct collector *c, uint32_t line)
{
    const struct profile *p = c->profile;
    const struct function *f = &p->functions.v[p->lines.v[line].function];
    const struct regex *re = c->report->argument;

    return regex_matches(re, profile_str(p, f->name)) ||
           regex_matches(re, profile_str(p, f->system_name)) ||
           regex_matches(re, profile_str(p, f->filename));
}

/* Finds the frames at this location whose function is interesting. */
static void look_at(struct collector *c, uint32_t location, struct sampled *s,
                    const uint64_t *wanted_address)
{
    const struct profile *p = c->profile;
    const struct location *l = &p->locations.v[location];
    const struct regex *re = c->report->argument;
    bool binary_matches;

    if (!re || (wanted_address && s->address == *wanted_address)) {
        if (l->n_lines)
            mark(c, s, l->line_start + l->n_lines - 1);
        return;
    }
    binary_matches =
        l->mapping != NO_INDEX &&
        regex_matches(re, profile_str(p, p->mappings.v[l->mapping].file));
    for (uint32_t i = 0; i < l->n_lines; i++)
        if ((i == 0 && binary_matches) ||
            function_matches(c, l->line_start + i))
            mark(c, s, l->line_start + i);
}

static void read_samples(struct collector *c)
{
    const struct profile *p = c->profile;
    struct report *r = c->report;
    bool *looked = arena_new_array(c->arena, bool, p->locations.n);
    uint64_t number;
    const uint64_t *wanted_address =
        code_argument_address(r, &number) ? &number : NULL;

    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t value = report_value(r, i), divisor = report_divisor(r, i);

        value = divisor ? value / divisor : value;
        for (size_t f = p->loc_start[i + 1]; f-- > p->loc_start[i];) {
            uint32_t location = p->stack[f];
            struct sampled *s =
                sampled_at(c, address_of(c, location), location);

            s->cum += value;
            if (f == p->loc_start[i])
                s->flat += value;
            if (!looked[location])
                look_at(c, location, s, wanted_address);
            looked[location] = true;
        }
    }
}

/* --- what stands there -------------------------------------------------- */

static struct str clean_file(struct arena *a, struct str file)
{
    if (str_has_prefix(file, STR("/proc/self/cwd/")))
        file = str_skip(file, strlen("/proc/self/cwd/"));
    if (str_has_prefix(file, STR("./")))
        file = str_skip(file, 2);
    return path_clean(a, file);
}

/* Records the instruction under each interesting frame; frames are innermost
 * first. */
static void add_places(struct collector *c, uint32_t instruction,
                       const struct code_frame *frames, size_t n)
{
    struct code_frame *reversed = NULL;

    for (size_t i = 0; i < n; i++) {
        string_id name = profile_find_string(c->profile, frames[i].function);

        if (name == NO_INDEX || !c->interesting[name])
            continue;
        if (!reversed) {
            reversed = arena_new_array(c->arena, struct code_frame, n);
            for (size_t k = 0; k < n; k++)
                reversed[k] = frames[n - 1 - k];
        }
        *vec_push(c->arena, &c->out->places) = (struct code_place){
            .file = clean_file(c->arena, frames[i].file),
            .line = frames[i].line,
            .function = frames[i].function,
            .instruction = instruction,
            .callees = reversed + (n - i),
            .n_callees = i,
        };
    }
}

static void add_synthetic(struct collector *c, const struct sampled *s)
{
    const struct profile *p = c->profile;
    const struct location *l = &p->locations.v[s->location];
    struct code_instruction x = {
        .address = s->address, .file_address = s->address, .length = 1};

    c->frames.n = 0;
    for (uint32_t i = 0; i < l->n_lines; i++) {
        const struct line *line = &p->lines.v[l->line_start + i];
        const struct function *f = &p->functions.v[line->function];

        *vec_push(c->arena, &c->frames) = (struct code_frame){
            profile_str(p, f->name), profile_str(p, f->filename), line->line};
    }
    if (c->frames.n) {
        x.file = c->frames.v[0].file;
        x.line = c->frames.v[0].line;
    }
    *vec_push(c->arena, &c->out->instructions) = x;
    add_places(c, (uint32_t)(c->out->instructions.n - 1), c->frames.v,
               c->frames.n);
}

/* The frames of a range's instructions, as the binary tells them. */
struct range_frames {
    struct collector *collector;
    struct code_frame **frames;
    size_t *n;
};

static void keep_frames(void *arg, size_t i, const struct symbol_frame *frames,
                        size_t n)
{
    struct range_frames *rf = arg;
    struct arena *a = rf->collector->arena;

    rf->frames[i] = arena_new_array(a, struct code_frame, n);
    rf->n[i] = n;
    for (size_t k = 0; k < n; k++)
        rf->frames[i][k] =
            (struct code_frame){arena_str(a, frames[k].function),
                                arena_str(a, frames[k].file), frames[k].line};
}

static struct range_frames ask_binary(struct collector *c,
                                      const struct range *range,
                                      const struct instructions *in,
                                      uint64_t base)
{
    size_t n = in->list.n;
    uint64_t *addresses = arena_new_array(c->arena, uint64_t, n);
    struct range_frames rf = {c,
                              arena_new_array(c->arena, struct code_frame *, n),
                              arena_new_array(c->arena, size_t, n)};
    struct error ignored; /* the disassembler's own lines serve then */

    for (size_t i = 0; i < n; i++)
        addresses[i] = in->list.v[i].address + base;
    c->objects->resolve(c->objects->arg, range->object, addresses, n,
                        keep_frames, &rf, &ignored);
    return rf;
}

static void add_range(struct collector *c, const struct instructions *in,
                      const struct range_frames *rf, uint64_t base)
{
    const struct code_frame *last = NULL;
    size_t n_last = 0;
    uint64_t last_address = 0, highest = 0;

    for (size_t i = 0; i < in->list.n; i++) {
        const struct instruction *x = &in->list.v[i];
        uint64_t address = x->address + base;
        struct code_frame own = {x->function, x->file, x->line};
        const struct code_frame *frames = rf->n[i] ? rf->frames[i] : &own;
        size_t n = rf->n[i] ? rf->n[i] : 1;
        bool followed =
            i + 1 < in->list.n && in->list.v[i + 1].address > x->address;

        if (address <= highest) /* the disassembler said it twice */
            continue;
        highest = address;
        *vec_push(c->arena, &c->out->instructions) = (struct code_instruction){
            .address = address,
            .file_address = x->address,
            .length = followed ? in->list.v[i + 1].address - x->address : 1,
            .text = x->text,
            .file = frames[0].file,
            .line = frames[0].line,
        };
        if (frames[0].line != 0) {
            last = frames;
            n_last = n;
            last_address = address;
            if (frames == &own) {
                last = arena_alloc(c->arena, sizeof(own));
                *(struct code_frame *)last = own;
            }
        } else if (last && address - last_address <= NEAR) {
            frames = last;
            n = n_last;
        }
        add_places(c, (uint32_t)(c->out->instructions.n - 1), frames, n);
    }
}

static void disassemble(struct collector *c, const struct range *range)
{
    const struct objects *o = c->objects;
    struct instructions in = {0};
    struct range_frames rf;
    uint64_t begin, end;
    struct error err;

    if (!o->file_address(o->arg, range->object, range->begin, &begin, &err)) {
        buf_addf(c->report->warnings,
                 "Failed to compute objdump address for range %llx: %s\n",
                 (unsigned long long)range->begin, err.text);
        return;
    }
    /* Not asked for: the end may be the mapping's own, which is outside. */
    end = begin + (range->end - range->begin);
    if (!o->disassemble(o->arg, range->object, c->arena, begin, end,
                        c->report->config.intel_syntax, &in, &err))
        return;
    rf = ask_binary(c, range, &in, range->begin - begin);
    add_range(c, &in, &rf, range->begin - begin);
}

/* --- which code to disassemble ------------------------------------------ */

static struct object *object_of(struct collector *c, uint32_t location)
{
    const struct profile *p = c->profile;
    uint32_t index = p->locations.v[location].mapping;
    const struct mapping *m;
    struct error ignored;

    if (index == NO_INDEX || !c->objects)
        return NULL;
    m = &p->mappings.v[index];
    if (!c->opened[index])
        c->object[index] = c->objects->open(
            c->objects->arg, arena_cstr(c->arena, profile_str(p, m->file)),
            (struct object_mapping){m->start, m->limit, m->offset, STR("")},
            &ignored);
    c->opened[index] = true;
    return c->object[index];
}

static int by_address(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static int by_weight(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

struct ranges {
    VEC(struct range) list;
};

/* One range for addresses v[*i..] that lie close together. */
static void add_close_ones(struct collector *c, const struct sampled *v,
                           size_t n, size_t *i, struct ranges *out)
{
    uint32_t mapping = c->profile->locations.v[v[*i].location].mapping;
    const struct mapping *m = &c->profile->mappings.v[mapping];
    struct range r = {.begin = v[*i].address,
                      .end = v[*i].address,
                      .mapping = mapping,
                      .object = c->object[mapping],
                      .weight = v[*i].flat};

    for (++*i; *i < n && v[*i].address <= r.end + 2 * EXPAND &&
               v[*i].address < m->limit;
         ++*i) {
        r.end = v[*i].address;
        r.weight += v[*i].flat;
    }
    r.begin = r.begin - m->start >= EXPAND ? r.begin - EXPAND : m->start;
    r.end = m->limit - r.end >= EXPAND ? r.end + EXPAND : m->limit;
    *vec_push(c->arena, &out->list) = r;
}

static void read_binaries(struct collector *c)
{
    size_t n = 0, i = 0;
    struct sampled *v = arena_new_array(c->arena, struct sampled, c->sampled.n);
    struct ranges ranges = {0};

    for (size_t k = 0; k < c->sampled.n; k++)
        if (c->sampled.v[k].wanted)
            v[n++] = c->sampled.v[k];
    qsort(v, n, sizeof(*v), by_address);
    for (size_t k = 0, all = n; k < all; k++) {
        if (k == 0)
            n = 0;
        if (object_of(c, v[k].location))
            v[n++] = v[k];
        else
            add_synthetic(c, &v[k]);
    }
    while (i < n)
        add_close_ones(c, v, n, &i, &ranges);
    if (ranges.list.n)
        qsort(ranges.list.v, ranges.list.n, sizeof(*ranges.list.v), by_weight);
    for (size_t k = 0; k < ranges.list.n && k < MAX_RANGES; k++)
        disassemble(c, &ranges.list.v[k]);
}

/* Samples inside an instruction are its own: pc + 1 is common. */
static void add_costs(struct collector *c)
{
    for (size_t i = 0; i < c->out->instructions.n; i++) {
        struct code_instruction *x = &c->out->instructions.v[i];

        for (uint64_t k = 0; k < x->length; k++) {
            const struct sampled *s = find_sampled(c, x->address + k);

            x->flat += s ? s->flat : 0;
            x->cum += s ? s->cum : 0;
        }
    }
}

void code_collect(struct report *r, struct code *out)
{
    struct profile *p = r->profile;
    struct collector c = {
        .report = r,
        .profile = p,
        .objects = r->request->objects,
        .arena = r->arena,
        .out = out,
        .synthetic = arena_new_array(r->arena, uint64_t, p->locations.n),
        .next_synthetic = 1,
        .interesting = arena_new_array(r->arena, bool, p->strings.n),
        .object = arena_new_array(r->arena, struct object *, p->mappings.n),
        .opened = arena_new_array(r->arena, bool, p->mappings.n),
    };

    map_init(&c.by_address, r->arena, 0);
    for (size_t i = 0; i < p->mappings.n; i++)
        if (c.next_synthetic < p->mappings.v[i].limit)
            c.next_synthetic = p->mappings.v[i].limit;
    read_samples(&c);
    read_binaries(&c);
    add_costs(&c);
    for (size_t i = 0; i < p->mappings.n; i++)
        if (c.object[i])
            c.objects->close(c.objects->arg, c.object[i]);
}

struct str code_pretty_name(const struct report *r, struct str system_name)
{
    const struct profile *p = r->profile;
    string_id id = profile_find_string(p, system_name);

    for (size_t i = 0; id != NO_INDEX && i < p->functions.n; i++)
        if (p->functions.v[i].system_name == id)
            return profile_str(p, p->functions.v[i].name);
    return system_name;
}
