/*
 * Records of perf become samples of a profile.  All records are sorted by time
 * first, since every processor wrote its own; then memory maps, names of
 * threads and forks are applied in that order, so that each sample is seen
 * with the maps its process had at that moment.  A stack is put together from
 * up to three sources: the kernel's chain, LBR's branches, or a copy of the
 * user stack that our own unwinder walks (perf/unwind.c).
 */
#include "perf/convert.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/number.h"
#include "base/path.h"
#include "elf/jit_name.h"
#include "perf/jit.h"
#include "perf/sample.h"
#include "perf/space.h"
#include "perf/unwind.h"
#include "profile/merge.h"

#define MAX_STACK 4096 /* frames of one sample */

/* PERF_CONTEXT_… markers in call chains. */
#define FIRST_MARKER ((uint64_t)-4095)

/* A record by its time. */
struct moment {
    uint64_t time;
    uint64_t order; /* in the file */
    struct perf_record record;
};

struct command {
    uint32_t tid;
    string_id name;
};

struct converter {
    struct arena *scratch;
    const struct profile_limits *limits;
    struct error *err;
    struct perf_file file;
    struct profile *profile;
    struct sample_builder samples;
    VEC(struct moment) moments;
    struct perf_spaces spaces;
    struct perf_unwinder unwinder;
    struct perf_jit jit;
    struct map function_index; /* generated code, by its name */
    struct map mapping_index, location_index, command_index;
    VEC(struct command) commands;
    uint64_t first_time, last_time, lost;
    uint64_t stack[MAX_STACK];
    size_t depth;
    size_t string_bytes;
};

/* --- mappings ----------------------------------------------------------- */

/* The kernel's map has the name of a symbol behind the file's. */
static struct str build_id_of(const struct converter *c, struct str file)
{
    if (str_has_prefix(file, STR("[kernel.kallsyms]")))
        file = STR("[kernel.kallsyms]");
    for (size_t i = 0; i < c->file.build_ids.n; i++)
        if (str_eq(c->file.build_ids.v[i].file, file))
            return c->file.build_ids.v[i].id;
    return STR("");
}

static string_id intern_id(struct converter *c, struct str id)
{
    char hex[64];

    return profile_intern(
        c->profile, str_of(hex, number_put_bytes(hex, (const uint8_t *)id.s,
                                                 id.n > 31 ? 31 : id.n)));
}

/* The number of a mapping, in the profile and for the unwinder. */
static uint32_t find_mapping(struct converter *c, struct mapping m,
                             struct str path, struct str id)
{
    struct profile *p = c->profile;
    uint64_t hash = map_mix(
        map_mix(map_mix(map_mix(0, m.start), m.limit), m.offset), m.file);
    struct map_cursor at = map_find(&c->mapping_index, hash);

    while (map_next(&c->mapping_index, &at)) {
        const struct mapping *o = &p->mappings.v[at.record];

        if (o->start == m.start && o->limit == m.limit &&
            o->offset == m.offset && o->file == m.file)
            return at.record;
    }
    map_add(&c->mapping_index, &at, (uint32_t)p->mappings.n);
    assert(p->mappings.n == c->unwinder.files.n);
    m.id = p->mappings.n + 1;
    m.build_id = intern_id(c, id);
    *vec_push(p->arena, &p->mappings) = m;
    *vec_push(c->scratch, &c->unwinder.files) =
        (struct unwind_file){m.start, m.offset, path, id, UINT32_MAX};
    return (uint32_t)(p->mappings.n - 1);
}

static bool take_map(struct converter *c, const struct perf_record *r)
{
    struct cursor in = perf_cursor(r->payload);
    bool is_2 = r->type == PERF_RECORD_MMAP2;
    uint32_t pid = cursor_u32(&in), file;
    struct str path, id = STR("");
    struct mapping m = {0};

    cursor_u32(&in); /* tid */
    m.start = cursor_u64(&in);
    m.limit = m.start + cursor_u64(&in);
    m.offset = cursor_u64(&in);
    if (is_2 && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        const char *raw = (const char *)in.at;
        size_t n = cursor_u8(&in);

        cursor_skip(&in, 3 + 20);
        id = str_of(raw + 4, n <= 20 ? n : 20);
    } else if (is_2) {
        cursor_skip(&in, 4 + 4 + 8 + 8); /* device, inode */
    }
    if (is_2) {
        bool executable = cursor_u32(&in) & PROT_EXEC;

        cursor_u32(&in); /* flags */
        if (!executable)
            return true;
    } else if (r->misc & PERF_RECORD_MISC_MMAP_DATA) {
        return true;
    }
    path = str_of((const char *)in.at, cursor_left(&in));
    path.n = strnlen(path.s, path.n);
    if (in.bad || m.limit <= m.start)
        return true;
    c->string_bytes += path.n;
    if (c->string_bytes > c->limits->string_bytes)
        return error_set(c->err, "more than %zu bytes of file names",
                         c->limits->string_bytes);
    perf_jit_note_file(&c->jit, pid, path);
    m.file = profile_intern(c->profile, path);
    if (id.n == 0)
        id = build_id_of(c, path);
    file = find_mapping(c, m, path, id);
    perf_space_map(&c->spaces, pid, (struct perf_map){m.start, m.limit, file});
    return true;
}

/* --- names of threads --------------------------------------------------- */

static struct command *find_command(struct converter *c, uint32_t tid)
{
    struct map_cursor at = map_find(&c->command_index, map_mix(0, tid));

    while (map_next(&c->command_index, &at))
        if (c->commands.v[at.record].tid == tid)
            return &c->commands.v[at.record];
    map_add(&c->command_index, &at, (uint32_t)c->commands.n);
    *vec_push(c->scratch, &c->commands) = (struct command){.tid = tid};
    return &c->commands.v[c->commands.n - 1];
}

static void take_comm(struct converter *c, const struct perf_record *r)
{
    struct cursor in = perf_cursor(r->payload);
    uint32_t pid = cursor_u32(&in), tid = cursor_u32(&in);
    struct str name = str_of((const char *)in.at, cursor_left(&in));

    if (in.bad)
        return;
    name.n = strnlen(name.s, name.n < 16 ? name.n : 16);
    find_command(c, tid)->name = profile_intern(c->profile, name);
    if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
        perf_space_exec(&c->spaces, pid);
}

static void take_fork(struct converter *c, const struct perf_record *r)
{
    struct cursor in = perf_cursor(r->payload);
    uint32_t pid = cursor_u32(&in), parent = cursor_u32(&in);
    uint32_t tid = cursor_u32(&in), parent_tid = cursor_u32(&in);

    if (in.bad)
        return;
    find_command(c, tid)->name = find_command(c, parent_tid)->name;
    perf_space_fork(&c->spaces, parent, pid);
}

/* --- stacks ------------------------------------------------------------- */

static void push(struct converter *c, uint64_t address)
{
    if (c->depth < MAX_STACK)
        c->stack[c->depth++] = address;
}

/* Returns true if the last marker before chain[i] is that of user code. */
static bool is_user_marker(uint64_t word)
{
    return word == (uint64_t)PERF_CONTEXT_USER ||
           word == (uint64_t)PERF_CONTEXT_GUEST_USER;
}

/* The kernel's chain.  Behind each marker stands an address that was being
 * executed, then return addresses.  With `kernel_only` the user part is left
 * to others. */
static void take_chain(struct converter *c, const struct perf_sample *s,
                       bool kernel_only)
{
    bool first = true, user = false;

    for (size_t i = 0; i < s->n_chain; i++) {
        uint64_t word = perf_word(s->chain, i);

        if (word >= FIRST_MARKER) {
            user = is_user_marker(word);
            first = true;
            continue;
        }
        if (word && !(user && kernel_only))
            push(c, first ? word : word - 1);
        first = false;
    }
}

/* The branches of LBR's call-stack mode are calls, innermost first. */
static void take_branches(struct converter *c, const struct perf_sample *s)
{
    if (c->depth == 0)
        push(c, s->ip);
    else
        push(c, perf_word(s->branches, 1)); /* where the innermost went */
    for (size_t i = 0; i < s->n_branches; i++)
        push(c, perf_word(s->branches + i * 24, 0));
}

static void find_stack(struct converter *c, const struct perf_sample *s,
                       const struct perf_space *space)
{
    bool copied = s->regs && s->stack.n;
    bool calls = s->has_call_stack && s->n_branches;

    c->depth = 0;
    take_chain(c, s, copied || calls);
    if (calls) {
        take_branches(c, s);
    } else if (copied) {
        c->depth += perf_unwind(&c->unwinder, space, s, c->stack + c->depth,
                                MAX_STACK - c->depth);
    }
    if (c->depth == 0)
        push(c, s->ip);
}

/* --- samples ------------------------------------------------------------ */

static uint32_t find_function(struct converter *c, struct str raw)
{
    struct profile *p = c->profile;
    struct jit_name name = jit_name_parse(raw);
    string_id system_name = profile_intern(p, raw);
    struct map_cursor at =
        map_find(&c->function_index, map_mix(0, system_name));

    while (map_next(&c->function_index, &at))
        if (p->functions.v[at.record].system_name == system_name)
            return at.record;
    map_add(&c->function_index, &at, (uint32_t)p->functions.n);
    *vec_push(p->arena, &p->functions) =
        (struct function){.id = p->functions.n + 1,
                          .name = profile_intern(p, name.function),
                          .system_name = system_name,
                          .filename = profile_intern(p, name.file),
                          .start_line = name.line};
    return (uint32_t)(p->functions.n - 1);
}

static uint32_t function_of(const struct profile *p, const struct location *l)
{
    return l->n_lines ? p->lines.v[l->line_start].function : NO_INDEX;
}

/* With `function`: processes may have different code at the same address. */
static uint32_t find_location(struct converter *c, uint32_t mapping,
                              uint64_t address, uint32_t function)
{
    struct profile *p = c->profile;
    struct map_cursor at =
        map_find(&c->location_index,
                 map_mix(map_mix(map_mix(0, mapping), address), function));
    struct location *l;

    while (map_next(&c->location_index, &at)) {
        l = &p->locations.v[at.record];
        if (l->mapping == mapping && l->address == address &&
            function_of(p, l) == function)
            return at.record;
    }
    assert(mapping == NO_INDEX || mapping < p->mappings.n);
    assert(function == NO_INDEX || function < p->functions.n);
    map_add(&c->location_index, &at, (uint32_t)p->locations.n);
    l = vec_push(p->arena, &p->locations);
    *l = (struct location){
        .id = p->locations.n, .address = address, .mapping = mapping};
    if (function != NO_INDEX) {
        l->line_start = (uint32_t)p->lines.n;
        l->n_lines = 1;
        *vec_push(p->arena, &p->lines) = (struct line){.function = function};
    }
    return (uint32_t)(p->locations.n - 1);
}

/* The function of generated code; NO_INDEX: it is none, or has no name. */
static uint32_t generated_function(struct converter *c, uint32_t pid,
                                   const struct perf_map *map, uint64_t address)
{
    struct profile *p = c->profile;
    struct jit_code code;

    if ((map &&
         !perf_jit_may_hold(profile_str(p, p->mappings.v[map->file].file))) ||
        !perf_jit_find(&c->jit, pid, address, &code))
        return NO_INDEX;
    return find_function(c, code.name);
}

static void add_frame(struct converter *c, const struct perf_space *space,
                      uint64_t address)
{
    const struct perf_map *map = NULL;
    uint32_t function = NO_INDEX;

    if (space) {
        map = perf_space_find(space, address);
        function = generated_function(c, space->pid, map, address);
    }
    if (!map)
        map = perf_space_find(perf_space_of(&c->spaces, PERF_KERNEL), address);
    sample_builder_frame(
        &c->samples,
        find_location(c, map ? map->file : NO_INDEX, address, function));
}

static void add_labels(struct converter *c, const struct perf_sample *s)
{
    struct profile *p = c->profile;
    string_id comm = find_command(c, s->tid)->name;
    struct label labels[3];
    size_t n = 0;

    if (comm)
        labels[n++] = (struct label){.key = profile_intern(p, STR("comm")),
                                     .str = comm,
                                     .kind = LABEL_STRING};
    labels[n++] = (struct label){.key = profile_intern(p, STR("pid")),
                                 .num = s->pid,
                                 .kind = LABEL_NUMBER};
    labels[n++] = (struct label){.key = profile_intern(p, STR("tid")),
                                 .num = s->tid,
                                 .kind = LABEL_NUMBER};
    profile_sort_labels(p, labels, n);
    for (size_t i = 0; i < n; i++)
        sample_builder_label(&c->samples, labels[i]);
}

static bool take_sample(struct converter *c, const struct perf_record *r)
{
    struct perf_sample s;
    int64_t *values;

    if (!perf_sample_read(&c->file, r->payload, &s))
        return true; /* cut short: the last one of a file */
    if (c->profile->n_samples >= c->limits->samples)
        return error_set(c->err, "more than %zu samples", c->limits->samples);
    perf_space_of(&c->spaces, PERF_KERNEL); /* so that no pointer moves */
    struct perf_space *space = perf_space_of(&c->spaces, s.pid);

    space->samples++;
    find_stack(c, &s, space);
    if (c->depth > c->limits->stack_depth)
        c->depth = c->limits->stack_depth;
    for (size_t i = 0; i < c->depth; i++)
        add_frame(c, space, c->stack[i]);
    add_labels(c, &s);
    values = arena_new_array(c->scratch, int64_t, c->profile->types.n);
    values[0] = 1;
    values[1 + (s.event - c->file.events.v)] = (int64_t)s.period;
    sample_builder_end(&c->samples, values);
    if (c->first_time == 0)
        c->first_time = s.time;
    c->last_time = s.time;
    return true;
}

static bool take_record(struct converter *c, const struct perf_record *r)
{
    uint64_t lost;

    switch (r->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return take_map(c, r);
    case PERF_RECORD_COMM:
        take_comm(c, r);
        return true;
    case PERF_RECORD_FORK:
        take_fork(c, r);
        return true;
    case PERF_RECORD_LOST:
        if (r->payload.n >= 16) {
            memcpy(&lost, r->payload.s + 8, sizeof(lost));
            c->lost += lost;
        }
        return true;
    case PERF_RECORD_SAMPLE:
        return take_sample(c, r);
    default:
        return true;
    }
}

/* --- the whole ---------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Several processors write: records are put in the order of time. */
static bool collect(struct converter *c)
{
    struct str rest = c->file.records;
    struct perf_record r;

    while (perf_file_next(&c->file, &rest, &r)) {
        struct perf_sample s;
        uint64_t time;

        if (r.type == 81) /* PERF_RECORD_COMPRESSED */
            return error_set(c->err, "perf.data: recorded with -z; `perf "
                                     "inject -i FILE -o OUT` unpacks it");
        if (r.type >= 64 || (r.type == PERF_RECORD_SAMPLE &&
                             !perf_sample_read(&c->file, r.payload, &s)))
            continue;
        time = r.type == PERF_RECORD_SAMPLE
                   ? s.time
                   : perf_record_time(&c->file, r.payload);
        *vec_push(c->scratch, &c->moments) =
            (struct moment){time, c->moments.n, r};
    }
    if (c->moments.n)
        qsort(c->moments.v, c->moments.n, sizeof(*c->moments.v), by_time);
    return true;
}

static bool is_clock(const struct perf_event *e)
{
    return e->type == PERF_TYPE_SOFTWARE &&
           (e->config == PERF_COUNT_SW_CPU_CLOCK ||
            e->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void add_types(struct converter *c)
{
    struct profile *p = c->profile;
    const struct perf_event *first = &c->file.events.v[0];

    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("samples")), profile_intern(p, STR("count"))};
    for (size_t i = 0; i < c->file.events.n; i++) {
        const struct perf_event *e = &c->file.events.v[i];

        *vec_push(p->arena, &p->types) = (struct value_type){
            profile_intern(p, e->name),
            profile_intern(p, is_clock(e) ? STR("nanoseconds") : STR("count"))};
    }
    p->period_type = p->types.v[1];
    p->default_type = p->types.v[1].type;
    if (!first->is_frequency)
        p->period = (int64_t)first->period;
    else if (is_clock(first) && first->period)
        p->period = (int64_t)(1000000000 / first->period);
}

/* The program of the process with most samples goes first. */
static void put_main_first(struct converter *c)
{
    struct profile *p = c->profile;
    const struct perf_space *most = NULL;
    struct mapping swap;
    uint32_t main;

    for (size_t i = 0; i < c->spaces.list.n; i++) {
        const struct perf_space *s = &c->spaces.list.v[i];

        if (s->first != PERF_NO_FILE && s->samples &&
            (!most || s->samples > most->samples))
            most = s;
    }
    if (!most || most->first == 0)
        return;
    main = most->first;
    assert(main < p->mappings.n);
    swap = p->mappings.v[0];
    p->mappings.v[0] = p->mappings.v[main];
    p->mappings.v[main] = swap;
    for (size_t i = 0; i < p->locations.n; i++) {
        uint32_t *m = &p->locations.v[i].mapping;

        *m = *m == 0 ? main : *m == main ? 0 : *m;
    }
}

static bool convert(struct converter *c, struct str bytes)
{
    struct profile *p = c->profile;

    if (!perf_file_open(&c->file, c->scratch, bytes, c->err))
        return false;
    perf_jit_init(&c->jit, c->scratch, c->file.hostname);
    add_types(c);
    if (!collect(c))
        return false;
    for (size_t i = 0; i < c->moments.n; i++)
        if (!take_record(c, &c->moments.v[i].record))
            return false;
    put_main_first(c);
    p->duration_ns = (int64_t)(c->last_time - c->first_time);
    if (c->lost) {
        struct str words = str_from(arena_printf(
            c->scratch, "perf lost %llu records", (unsigned long long)c->lost));

        *vec_push(p->arena, &p->comments) = profile_intern(p, words);
    }
    return true;
}

struct profile *perf_convert(struct str bytes,
                             const struct profile_limits *limits,
                             struct error *err)
{
    struct arena *scratch = arena_new();
    struct converter *c = arena_alloc(scratch, sizeof(*c));
    struct profile *merged = NULL;

    c->scratch = scratch;
    c->limits = limits ? limits : &profile_default_limits;
    c->err = err;
    c->profile = profile_new();
    sample_builder_init(&c->samples, c->profile);
    map_init(&c->mapping_index, scratch, 0);
    map_init(&c->location_index, scratch, 0);
    map_init(&c->command_index, scratch, 0);
    map_init(&c->function_index, scratch, 0);
    perf_spaces_init(&c->spaces, scratch);
    if (!perf_unwinder_init(&c->unwinder, scratch))
        error_set(err, "out of memory");
    else if (convert(c, bytes))
        merged = profile_merge(&c->profile, 1, err);
    perf_jit_release(&c->jit);
    perf_unwinder_release(&c->unwinder);
    profile_free(c->profile);
    arena_free(scratch);
    return merged;
}
