/*
 * Mapping by mapping: open the binary, make sure by its build id that it is
 * the right one, resolve all addresses of the mapping in one call, and write
 * the answers into the profile's tables.  Functions that exist already are
 * reused.  The kernel and the vDSO have no file and are handled apart.
 */
#include "symbol/local.h"

#include "base/map.h"
#include "base/path.h"
#include "symbol/kernel.h"
#include "symbol/object.h"
#include "symbol/unsymbolizable.h"

struct resolver {
    struct profile *profile;
    struct mapping *mapping;
    bool completing; /* names are there: only what has lines is better */
    struct map function_index; /* of the functions added here */
    uint64_t next_id;
    VEC(uint32_t) asked; /* location indices, parallel to the addresses */
    VEC(uint64_t) addresses;
};

static bool same_function(const struct function *f, const struct function *g)
{
    return f->name == g->name && f->filename == g->filename &&
           f->start_line == g->start_line;
}

static uint32_t add_function(struct resolver *r, struct function f)
{
    struct profile *p = r->profile;
    uint64_t hash =
        map_mix(map_mix(map_mix(r->function_index.seed, f.name), f.filename),
                (uint64_t)f.start_line);
    struct map_cursor c = map_find(&r->function_index, hash);

    while (map_next(&r->function_index, &c))
        if (same_function(&p->functions.v[c.record], &f))
            return c.record;
    map_add(&r->function_index, &c, (uint32_t)p->functions.n);
    f.id = r->next_id++;
    *vec_push(p->arena, &p->functions) = f;
    return (uint32_t)(p->functions.n - 1);
}

static void set_lines(void *arg, size_t index,
                      const struct symbol_frame *frames, size_t n)
{
    struct resolver *r = arg;
    struct profile *p = r->profile;
    struct location *l = &p->locations.v[r->asked.v[index]];

    if (r->completing && frames[0].line == 0)
        return;
    l->line_start = (uint32_t)p->lines.n;
    l->n_lines = (uint32_t)n;
    l->is_folded = false;
    for (size_t i = 0; i < n; i++) {
        const struct symbol_frame *f = &frames[i];
        string_id name = profile_intern(p, f->function);
        uint32_t function = add_function(
            r, (struct function){.name = name,
                                 .system_name = name,
                                 .filename = profile_intern(p, f->file),
                                 .start_line = f->start_line});

        *vec_push(p->arena, &p->lines) = (struct line){
            .function = function, .line = f->line, .column = f->column};
        r->mapping->has_functions |= f->function.n != 0;
        r->mapping->has_filenames |= f->file.n != 0;
        r->mapping->has_line_numbers |= f->line != 0;
    }
    r->mapping->has_inline_frames |= n != 0;
}

/* "[kernel.kallsyms]_stext" -> "_stext" */
static struct str kernel_symbol(struct str file)
{
    struct str prefix = STR("[kernel.kallsyms]");

    return str_has_prefix(file, prefix) ? str_skip(file, prefix.n) : STR("");
}

static struct object_mapping mapping_of(const struct mapping *m,
                                        struct str file)
{
    return (struct object_mapping){.start = m->start,
                                   .limit = m->limit,
                                   .offset = m->offset,
                                   .kernel_symbol = kernel_symbol(file)};
}

static bool is_url(struct str file)
{
    ptrdiff_t at = str_find(file, STR("://"));

    return at > 0 && str_contains(str_first(file, (size_t)at), STR("http"));
}

/* The locations of the mapping become those that are asked for. */
static void ask_for(struct resolver *r, uint32_t mapping)
{
    struct profile *p = r->profile;

    r->mapping = &p->mappings.v[mapping];
    r->asked.n = r->addresses.n = 0;
    for (size_t i = 0; i < p->locations.n; i++) {
        if (p->locations.v[i].mapping != mapping)
            continue;
        *vec_push(p->arena, &r->addresses) = p->locations.v[i].address;
        *vec_push(p->arena, &r->asked) = (uint32_t)i;
    }
}

static void resolve_mapping(struct resolver *r, uint32_t mapping,
                            struct object *o, bool names_only,
                            struct buf *messages)
{
    struct error err;

    ask_for(r, mapping);
    if (!object_resolve(o, r->addresses.v, r->addresses.n, names_only,
                        set_lines, r, &err))
        buf_addf(messages, "local symbolization: %s\n", err.text);
}

/* What is no file: the kernel and its vDSO, if they are this machine's.
 * False: it is something else. */
static bool symbolize_kernel(struct resolver *r, uint32_t index,
                             bool names_only, struct buf *messages)
{
    struct profile *p = r->profile;
    const struct mapping *m = &p->mappings.v[index];
    struct str file = profile_str(p, m->file);
    struct str build_id = profile_str(p, m->build_id);
    struct object *o;

    if (str_has_prefix(file, STR("[kernel.kallsyms]"))) {
        ask_for(r, index);
        return kernel_resolve(build_id, r->addresses.v, r->addresses.n,
                              set_lines, r);
    }
    if (!str_eq(file, STR("[vdso]")))
        return false;
    o = kernel_open_vdso(build_id, mapping_of(m, file));
    if (o)
        resolve_mapping(r, index, o, names_only, messages);
    object_free(o);
    return o != NULL;
}

/* False if the mapping's binary is not available. */
static bool symbolize_mapping(struct resolver *r, uint32_t index,
                              bool names_only, struct buf *messages)
{
    struct profile *p = r->profile;
    const struct mapping *m = &p->mappings.v[index];
    struct str file = profile_str(p, m->file);
    struct str build_id = profile_str(p, m->build_id);
    struct object *o;
    struct error err;

    o = object_open(arena_cstr(p->arena, file), mapping_of(m, file), &err);
    if (o && build_id.n && object_build_id(o).n &&
        !str_eq(object_build_id(o), build_id))
        error_set(&err, "build ID mismatch");
    else if (o)
        err.text[0] = '\0';
    if (err.text[0]) {
        buf_addf(messages, "Local symbolization failed for %" STR_FMT,
                 STR_ARG(path_base(file)));
        if (build_id.n)
            buf_addf(messages, " (build ID %" STR_FMT ")", STR_ARG(build_id));
        buf_addf(messages, ": %s\n", err.text);
        object_free(o);
        return o != NULL;
    }
    resolve_mapping(r, index, o, names_only, messages);
    object_free(o);
    return true;
}

/*
 * A process names its functions itself, but often without lines: these are
 * added if the very binary, or its debug file, is here.  Silently: nothing is
 * missing otherwise.
 */
static void complete_mapping(struct resolver *r, uint32_t index)
{
    struct profile *p = r->profile;
    const struct mapping *m = &p->mappings.v[index];
    struct str file = profile_str(p, m->file);
    struct str build_id = profile_str(p, m->build_id);
    struct buf ignored = arena_buf(p->arena);
    struct object *o;
    struct error err;

    if (m->has_filenames || m->has_line_numbers || build_id.n == 0)
        return;
    o = object_open(arena_cstr(p->arena, file), mapping_of(m, file), &err);
    r->completing = true;
    if (o && str_eq(object_build_id(o), build_id))
        resolve_mapping(r, index, o, false, &ignored);
    r->completing = false;
    object_free(o);
    buf_release(&ignored);
}

/* New functions get the ids that google/pprof gives, unless these are
 * taken. */
static uint64_t first_free_id(const struct profile *p)
{
    uint64_t id = p->functions.n;

    for (size_t i = 0; i < p->functions.n; i++)
        if (p->functions.v[i].id > id)
            id = p->functions.v[i].id;
    return id + 1;
}

static bool *mappings_with_locations(const struct profile *p)
{
    bool *used = arena_new_array(p->arena, bool, p->mappings.n);

    for (size_t i = 0; i < p->locations.n; i++)
        if (p->locations.v[i].mapping != NO_INDEX)
            used[p->locations.v[i].mapping] = true;
    return used;
}

void symbolize_local(struct profile *p, bool names_only, bool force,
                     struct buf *messages)
{
    struct resolver r = {.profile = p, .next_id = first_free_id(p)};
    bool *used = mappings_with_locations(p);
    bool missing = false;

    map_init(&r.function_index, p->arena, 0);
    for (uint32_t i = 0; i < p->mappings.n; i++) {
        const struct mapping *m = &p->mappings.v[i];
        struct str file = profile_str(p, m->file);
        bool known =
            m->has_functions || m->has_filenames || m->has_line_numbers;

        if (used[i] && known && !force && !names_only)
            complete_mapping(&r, i);
        if (!used[i] || (known && !force))
            continue;
        if (file.n == 0 && i == 0) {
            buf_add(messages, STR("Main binary filename not available.\n"));
            continue;
        }
        if (file.n == 0) {
            missing = true;
            continue;
        }
        if (symbolize_kernel(&r, i, names_only, messages) ||
            symbolize_is_unsymbolizable(file) ||
            (m->build_id == 0 && is_url(file)))
            continue;
        missing |= !symbolize_mapping(&r, i, names_only, messages);
    }
    if (missing)
        buf_add(messages,
                STR("Some binary filenames not available. Symbolization may "
                    "be incomplete.\nTry setting PPROF_BINARY_PATH to the "
                    "search path for local binaries.\n"));
}
