/*
 * Writes profile.proto in one pass over the table, without a model of the
 * profile in memory.  Messages go into `out`, strings into a second buffer
 * that is appended at the end, so no string has to be known before it is used.
 */
#include "runtime/write/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/number.h"
#include "base/pages.h"
#include "base/search.h"
#include "elf/jit_name.h"
#include "elf/maps.h"
#include "profile/proto.h"
#include "profile/wire.h"
#include "runtime/own_code.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/write/addresses.h"
#include "runtime/write/function_names.h"
#include "runtime/write/line_lookup.h"

/*
 * Every address of the table becomes a location, numbered in the order of
 * addresses: a location's id is its place in `addresses`.  So all locations
 * of a function and of a mapping come one after another, and no index is
 * needed but a binary search.
 */
struct mapping {
    uint64_t start, limit, offset;
    struct str path;
    const struct module *module;
    bool is_used, has_unnamed, has_lined, has_unlined;
};

struct shared_text {
    struct str text;
    uint64_t id; /* 0: free */
};

struct writer {
    const struct profile_spec *spec;
    struct buf out;     /* the message, uncompressed */
    struct buf strings; /* string table entries, as fields */
    uint64_t n_strings;
    struct pages_vec addresses; /* of uint64_t: sorted, each once */
    struct pages_vec mappings;  /* of struct mapping, loaded ones first */
    struct maps maps;
    struct names names;
    struct line_lookup *lookup; /* NULL: none */
    const struct lines *lines;  /* its lines, or NULL */
    struct buf text;            /* scratch for a name */
    uint64_t n_functions;
    struct shared_text shared[256];
};

/* Far above the size of any profile; a limit so that a bug cannot exhaust the
 * host's memory. */
#define MAX_PROFILE_BYTES (256u << 20)

static uint64_t add_string(struct writer *w, struct str s)
{
    if (s.n == 0)
        return 0;
    wire_add_bytes(&w->strings, PROTO_STRING, s);
    return ++w->n_strings;
}

static void add_type(struct writer *w, unsigned field,
                     const struct profile_type *t)
{
    size_t mark = wire_open(&w->out, field);

    wire_add_u64(&w->out, PROTO_TYPE_TYPE, add_string(w, str_from(t->type)));
    wire_add_u64(&w->out, PROTO_TYPE_UNIT, add_string(w, str_from(t->unit)));
    wire_close(&w->out, mark);
}

static bool collect_addresses(struct writer *w, const struct stack_table *t)
{
    const struct stack_record *r;
    uint32_t at = 0;

    while ((r = stack_table_next(t, &at)) != NULL) {
        uint64_t *to = pages_vec_push(&w->addresses, r->n);
        size_t n = 0;

        if (!to)
            return false;
        for (size_t i = 0; i < r->n; i++)
            if (!own_code_hides(r->pcs, r->n, i))
                to[n++] = r->pcs[i];
        w->addresses.n -= r->n - n;
    }
    addresses_sort(&w->addresses);
    return true;
}

/* The id of an address; 0 for one that came after they were collected. */
static uint64_t location_id(const struct writer *w, uint64_t address)
{
    return addresses_index(&w->addresses, address) + 1;
}

static bool add_mapping(struct writer *w, struct mapping m)
{
    struct mapping *to = pages_vec_push(&w->mappings, 1);

    if (to)
        *to = m;
    return to != NULL;
}

/* Returns true if a sample is in it.  Runtimes that generate code map hundreds
 * of ranges. */
static bool has_address(const struct writer *w, const struct maps_entry *e)
{
    const uint64_t *v = w->addresses.p;
    size_t at = search_first(i, 0, w->addresses.n, v[i] >= e->start);

    return at < w->addresses.n && v[at] < e->limit;
}

/* The file of a range; generated code has none, and is called as perf does. */
static struct str path_of(const struct maps_entry *e)
{
    return e->path.n ? e->path : STR("//anon");
}

/* Executable ranges in the order of maps, but the program's first, as every
 * reader expects; then code that is not loaded any more. */
static bool collect_mappings(struct writer *w)
{
    const struct modules *m = &runtime.modules;
    bool ok = true;

    for (int pass = 0; pass < 2 && ok; pass++) {
        for (size_t i = 0; i < w->maps.entries.n && ok; i++) {
            const struct maps_entry *e = maps_at(&w->maps, i);
            const struct module *mod = modules_find(m, e->start);
            bool is_main = mod && mod->is_main && e->start <= mod->start;

            if (e->executable && is_main == (pass == 0) &&
                !modules_is_own(e->path) &&
                (e->path.n || e->inode || has_address(w, e)))
                ok = add_mapping(w,
                                 (struct mapping){e->start, e->limit, e->offset,
                                                  path_of(e), mod});
        }
    }
    for (size_t i = 0; i < m->n && ok; i++)
        if (!m->v[i].is_loaded)
            ok = add_mapping(w, (struct mapping){m->v[i].start, m->v[i].limit,
                                                 m->v[i].offset,
                                                 str_from(m->v[i].path),
                                                 &m->v[i]});
    return ok;
}

static struct mapping *find_mapping(struct writer *w, uint64_t address)
{
    struct mapping *v = w->mappings.p;

    for (size_t i = 0; i < w->mappings.n; i++)
        if (address >= v[i].start && address < v[i].limit)
            return &v[i];
    return NULL;
}

static uint64_t add_shared(struct writer *w, struct str s);

static void add_function(struct writer *w, struct str name, struct str system,
                         struct str file, int64_t start_line)
{
    size_t mark = wire_open(&w->out, PROTO_FUNCTION);

    wire_add_u64(&w->out, PROTO_FUNCTION_ID, ++w->n_functions);
    wire_add_u64(&w->out, PROTO_FUNCTION_NAME, add_string(w, name));
    wire_add_u64(&w->out, PROTO_FUNCTION_SYSTEM_NAME, add_string(w, system));
    wire_add_u64_opt(&w->out, PROTO_FUNCTION_FILENAME, add_shared(w, file));
    wire_add_i64_opt(&w->out, PROTO_FUNCTION_START_LINE, start_line);
    wire_close(&w->out, mark);
}

static void add_pretty(struct writer *w, struct str mangled, struct str file,
                       int64_t start_line)
{
    buf_clear(&w->text);
    names_pretty(&w->names, mangled, &w->text);
    add_function(w, buf_str(&w->text), mangled, file, start_line);
}

/* The function that the symbol table has at one address after another. */
struct outer {
    uint64_t start, id; /* of the last one */
};

/*
 * Its id, written when it is not the last one's; 0: there is none.  File and
 * line are the outermost frame's, if lines are known.
 */
static uint64_t function_at(struct writer *w, uint64_t address,
                            const struct line_function *outermost,
                            struct outer *last)
{
    const char *pseudo = names_pseudo(address);
    struct name name;

    if (pseudo) {
        add_function(w, str_from(pseudo), str_from(pseudo), STR(""), 0);
        return w->n_functions;
    }
    if (!names_find(&w->names, address, &name))
        return 0;
    if (name.start != last->start) {
        struct jit_name jit = {0};

        if (!name.module)
            jit = jit_name_parse(name.mangled);
        add_pretty(w, name.mangled,
                   outermost ? lines_text(w->lines, outermost->file) : jit.file,
                   outermost ? outermost->start_line : jit.line);
        *last = (struct outer){name.start, w->n_functions};
    }
    return last->id;
}

static uint64_t line_function_id(struct writer *w, uint32_t function)
{
    struct line_function *f = lines_function(w->lines, function);

    if (f->id == 0) {
        add_pretty(w, lines_text(w->lines, f->name),
                   lines_text(w->lines, f->file), f->start_line);
        f->id = w->n_functions;
    }
    return f->id;
}

static void add_line(struct writer *w, uint64_t function, int64_t line,
                     int64_t column)
{
    size_t mark = wire_open(&w->out, PROTO_LOCATION_LINE);

    wire_add_u64(&w->out, PROTO_LINE_FUNCTION, function);
    wire_add_i64_opt(&w->out, PROTO_LINE_LINE, line);
    wire_add_i64_opt(&w->out, PROTO_LINE_COLUMN, column);
    wire_close(&w->out, mark);
}

/* Of what is inlined into a wrapper of ours only the wrapper is shown. */
static struct line_place place_at(const struct writer *w, size_t i)
{
    struct line_place place = lines_at(w->lines, i);

    if (place.n > 1 && own_code_has(((const uint64_t *)w->addresses.p)[i])) {
        place.first += place.n - 1;
        place.n = 1;
    }
    return place;
}

/* The functions of an address, innermost first, are written before it is:
 * their ids.  The outermost has its name from the symbol table. */
static size_t functions_at(struct writer *w, size_t i, struct outer *last,
                           uint64_t ids[LINES_MAX_FRAMES])
{
    uint64_t address = ((const uint64_t *)w->addresses.p)[i];
    struct line_place place = place_at(w, i);
    const struct line_frame *f = lines_frames(w->lines, place);
    const struct line_function *outermost =
        place.n ? lines_function(w->lines, f[place.n - 1].function) : NULL;
    uint64_t outer = function_at(w, address, outermost, last);

    if (place.n == 0) {
        ids[0] = outer;
        return outer != 0;
    }
    for (size_t k = 0; k + 1 < place.n; k++)
        ids[k] = line_function_id(w, f[k].function);
    ids[place.n - 1] =
        outer ? outer : line_function_id(w, f[place.n - 1].function);
    return place.n;
}

static void add_locations(struct writer *w)
{
    const uint64_t *v = w->addresses.p;
    struct outer last = {0, 0};
    uint64_t ids[LINES_MAX_FRAMES];

    for (size_t i = 0; i < w->addresses.n; i++) {
        bool is_pseudo = names_pseudo(v[i]) != NULL;
        struct mapping *m = is_pseudo ? NULL : find_mapping(w, v[i]);
        struct line_place place = place_at(w, i);
        const struct line_frame *f = lines_frames(w->lines, place);
        size_t n = functions_at(w, i, &last, ids);
        size_t mark = wire_open(&w->out, PROTO_LOCATION);

        wire_add_u64(&w->out, PROTO_LOCATION_ID, i + 1);
        if (m) {
            m->is_used = true;
            m->has_unnamed |= n == 0;
            m->has_lined |= place.n != 0;
            m->has_unlined |= !place.is_final;
            wire_add_u64(&w->out, PROTO_LOCATION_MAPPING,
                         (uint64_t)(m - (struct mapping *)w->mappings.p) + 1);
        }
        wire_add_u64_opt(&w->out, PROTO_LOCATION_ADDRESS, is_pseudo ? 0 : v[i]);
        for (size_t k = 0; k < n; k++)
            add_line(w, ids[k], place.n ? f[k].line : 0,
                     place.n ? f[k].column : 0);
        wire_close(&w->out, mark);
    }
}

static uint64_t add_build_id(struct writer *w, const struct module *m)
{
    char hex[2 * ELF_BUILD_ID_MAX];

    if (!m || m->build_id_n == 0)
        return 0;
    return add_string(
        w, str_of(hex, number_put_bytes(hex, m->build_id, m->build_id_n)));
}

static void add_mappings(struct writer *w)
{
    const struct mapping *v = w->mappings.p;

    for (size_t i = 0; i < w->mappings.n; i++) {
        size_t mark = wire_open(&w->out, PROTO_MAPPING);

        wire_add_u64(&w->out, PROTO_MAPPING_ID, i + 1);
        wire_add_u64(&w->out, PROTO_MAPPING_START, v[i].start);
        wire_add_u64(&w->out, PROTO_MAPPING_LIMIT, v[i].limit);
        wire_add_u64_opt(&w->out, PROTO_MAPPING_OFFSET, v[i].offset);
        wire_add_u64_opt(&w->out, PROTO_MAPPING_FILE, add_string(w, v[i].path));
        wire_add_u64_opt(&w->out, PROTO_MAPPING_BUILD_ID,
                         add_build_id(w, v[i].module));
        bool has_lines = v[i].has_lined && !v[i].has_unlined;

        wire_add_u64_opt(&w->out, PROTO_MAPPING_HAS_FUNCTIONS,
                         v[i].is_used && !v[i].has_unnamed);
        wire_add_u64_opt(&w->out, PROTO_MAPPING_HAS_FILENAMES, has_lines);
        wire_add_u64_opt(&w->out, PROTO_MAPPING_HAS_LINE_NUMBERS, has_lines);
        wire_add_u64_opt(&w->out, PROTO_MAPPING_HAS_INLINE_FRAMES, has_lines);
        wire_close(&w->out, mark);
    }
}

static void add_number_label(struct writer *w, uint64_t key, uint64_t number)
{
    size_t mark = wire_open(&w->out, PROTO_SAMPLE_LABEL);

    wire_add_u64(&w->out, PROTO_LABEL_KEY, key);
    wire_add_u64(&w->out, PROTO_LABEL_NUM, number);
    wire_close(&w->out, mark);
}

/* For texts that come again and again: the same number each time, most of
 * the time. */
static uint64_t add_shared(struct writer *w, struct str s)
{
    if (s.n == 0)
        return 0;
    struct shared_text *c =
        &w->shared[str_hash(s) % (sizeof(w->shared) / sizeof(w->shared[0]))];

    if (!c->id || !str_eq(c->text, s))
        *c = (struct shared_text){s, add_string(w, s)};
    return c->id;
}

static void add_text_label(struct writer *w, struct str key, struct str text)
{
    uint64_t key_id = add_shared(w, key), text_id = add_shared(w, text);
    size_t mark = wire_open(&w->out, PROTO_SAMPLE_LABEL);

    wire_add_u64(&w->out, PROTO_LABEL_KEY, key_id);
    wire_add_u64(&w->out, PROTO_LABEL_STR, text_id);
    wire_close(&w->out, mark);
}

static void add_labels(struct writer *w, struct label_tag tag)
{
    struct label labels[LABELS_MAX];
    size_t n = labels_list(tag.set, labels);

    for (size_t i = 0; i < n; i++)
        add_text_label(w, labels[i].key, labels[i].value);
    if (tag.state)
        add_text_label(w, STR("state"), str_from(label_state_name(tag.state)));
    if (tag.tid)
        add_number_label(w, add_shared(w, STR("thread_id")), tag.tid);
}

/* False: nothing to say of it. */
static bool values_of(const struct profile_spec *spec,
                      const struct stack_record *r, int64_t out[STACK_VALUES])
{
    bool any = false;

    for (size_t i = 0; i < spec->n_types; i++) {
        out[i] = atomic_load_explicit(&r->values[i], memory_order_relaxed);
        if (i == 1 && spec->second_is_first_times)
            out[1] = out[0] * spec->second_is_first_times;
        any |= out[i] != 0;
    }
    return any;
}

static void add_samples(struct writer *w, const struct stack_table *t)
{
    uint64_t ids[UNWIND_MAX_FRAMES + 1], size_key = 0;
    const struct stack_record *r;
    int64_t values[STACK_VALUES];
    uint32_t at = 0;

    if (w->spec->size_label)
        size_key = add_string(w, str_from(w->spec->size_label));
    while ((r = stack_table_next(t, &at)) != NULL) {
        size_t mark, n = 0;

        if (!values_of(w->spec, r, values))
            continue;
        for (size_t i = 0; i < r->n && i <= UNWIND_MAX_FRAMES; i++)
            if (!own_code_hides(r->pcs, r->n, i) &&
                (ids[n] = location_id(w, r->pcs[i])) != 0)
                n++;
        mark = wire_open(&w->out, PROTO_SAMPLE);
        wire_add_u64s(&w->out, PROTO_SAMPLE_LOCATION, ids, n);
        wire_add_i64s(&w->out, PROTO_SAMPLE_VALUE, values, w->spec->n_types);
        if (w->spec->has_label_tags && r->tag)
            add_labels(w, label_tag_unpack(r->tag));
        if (w->spec->size_label) {
            add_labels(w, (struct label_tag){.set = size_tag_set(r->tag)});
            add_number_label(w, size_key, size_tag_size(r->tag));
        }
        wire_close(&w->out, mark);
    }
}

/* How many labels had no room, if samples have any and some had none. */
static void add_lost_labels(struct writer *w)
{
    uint64_t lost = w->spec->has_label_tags ? labels_lost() : 0;

    if (lost == 0)
        return;
    buf_clear(&w->text);
    buf_addf(&w->text, "labels without room: %llu", (unsigned long long)lost);
    wire_add_u64(&w->out, PROTO_COMMENT, add_string(w, buf_str(&w->text)));
}

static void add_head(struct writer *w)
{
    const struct profile_spec *s = w->spec;
    struct str rest = buf_str(&s->comments), line;

    assert(s->n_types > 0 && s->n_types <= STACK_VALUES);
    for (size_t i = 0; i < s->n_types; i++)
        add_type(w, PROTO_SAMPLE_TYPE, &s->types[i]);
    wire_add_i64_opt(&w->out, PROTO_TIME_NS, s->time_ns);
    wire_add_i64_opt(&w->out, PROTO_DURATION_NS, s->duration_ns);
    add_type(w, PROTO_PERIOD_TYPE, &s->period_type);
    wire_add_i64_opt(&w->out, PROTO_PERIOD, s->period);
    while (str_next_line(&rest, &line))
        wire_add_u64(&w->out, PROTO_COMMENT, add_string(w, line));
    add_lost_labels(w);
    if (s->default_type)
        wire_add_u64(&w->out, PROTO_DEFAULT_TYPE,
                     add_string(w, str_from(s->default_type)));
}

static void writer_init(struct writer *w, const struct profile_spec *spec)
{
    *w = (struct writer){.spec = spec,
                         .out = BUF_INIT(MAX_PROFILE_BYTES),
                         .strings = BUF_INIT(MAX_PROFILE_BYTES),
                         .addresses = {.size = sizeof(uint64_t)},
                         .mappings = {.size = sizeof(struct mapping)},
                         .text = BUF_INIT(1u << 20)};
    wire_add_bytes(&w->strings, PROTO_STRING, STR(""));
    names_init(&w->names, &runtime.modules);
}

static void writer_release(struct writer *w)
{
    names_release(&w->names);
    line_lookup_free(w->lookup);
    maps_release(&w->maps);
    pages_vec_release(&w->addresses);
    pages_vec_release(&w->mappings);
    buf_release(&w->text);
    buf_release(&w->strings);
    buf_release(&w->out);
}

bool profile_write(const struct profile_spec *spec,
                   const struct stack_table *table, struct buf *out,
                   struct error *err)
{
    bool with_lines = lines_wanted();
    struct writer w;
    bool ok;

    runtime_lock();
    modules_refresh(&runtime.modules);
    writer_init(&w, spec);
    if (!maps_read(&w.maps, "/proc/self/maps"))
        w.maps.entries.n = 0;
    code_copies_take(&runtime.copies, &runtime.modules, &w.maps);
    ok = collect_addresses(&w, table);
    w.lookup = ok && with_lines ? line_lookup_new() : NULL;
    if (w.lookup && line_lookup_plan(w.lookup, &runtime.modules, w.addresses.p,
                                     w.addresses.n)) {
        /* Others need not wait for files to be read. */
        runtime_unlock();
        if (!line_lookup_run(w.lookup))
            w.lookup = NULL;
        w.lines = w.lookup ? &w.lookup->lines : NULL;
        runtime_lock();
    }
    ok = ok && collect_mappings(&w);
    if (ok) {
        add_head(&w);
        add_samples(&w, table);
        add_locations(&w);
        add_mappings(&w);
        buf_add(&w.out, buf_str(&w.strings));
        ok = buf_ok(&w.out) && buf_ok(&w.strings);
    }
    runtime_unlock();
    ok = ok ? profile_gzip(buf_str(&w.out), out, err)
            : error_set(err, "out of memory");
    writer_release(&w);
    return ok;
}

bool profile_gzip(struct str bytes, struct buf *out, struct error *err)
{
    z_stream z = {0};
    uLong bound;
    char *to;
    int rc;

    /* 15 + 16: a gzip header without name or time. */
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return error_set(err, "gzip: out of memory");
    bound = deflateBound(&z, (uLong)bytes.n);
    to = buf_reserve(out, bound);
    z.next_in = (Bytef *)(uintptr_t)bytes.s;
    z.avail_in = (uInt)bytes.n;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)bound;
    rc = to ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    out->len += rc == Z_STREAM_END ? z.total_out : 0;
    deflateEnd(&z);
    return rc == Z_STREAM_END || error_set(err, "the profile is too big");
}
