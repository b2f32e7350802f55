/*
 * Answers for many addresses at once, unit by unit: which of them lie in the
 * unit, which functions and inlined calls surround them (walk.c), which line
 * they are on (lines.c), and what these are called.  Each unit is read once,
 * however many addresses lie in it, and what was read is forgotten again when
 * it grows, so that memory depends on the questions and not on the file.
 */
#include "dwarf/resolve.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "dwarf/lines.h"
#include "dwarf/linked_files.h"
#include "dwarf/walk.h"

/* A valid file needs each of its bytes a few times at most. */
#define WORK_BASE     ((uint64_t)1 << 22)
#define WORK_PER_BYTE 16

/* What was read is forgotten between units when it is more than this. */
#define KEEP ((uint64_t)16 << 20)

struct dwarf {
    struct dwarf_file file, alternate;
    int alternate_fd;
    struct dwarf_work work;
    struct dwarf_abbrev_cache cache;
    struct split_files split;
    uint64_t memory;
    bool left_out; /* something that did not fit */
    struct walk walk;
    struct dwarf_lines lines;
    struct pages_vec rows;    /* of struct dwarf_row, one a wanted address */
    struct pages_vec pcs;     /* of uint64_t, the same */
    struct pages_vec frames;  /* of struct frame_ref */
    struct pages_vec answers; /* of struct symbol_frame */
    struct pages_vec paths;   /* bytes */
};

/* A frame before its texts are put together. */
struct frame_ref {
    const char *function;
    uint64_t file, line, column, start_line;
    bool has_file;
    size_t path; /* in paths */
};

/* Inflated sections stay: they count from the start. */
static bool fits(const struct dwarf_file *f, uint64_t memory)
{
    uint64_t sum = 0;

    for (int i = 0; i < DWARF_SECTIONS; i++)
        if (f->sections[i].packed_n)
            sum += f->sections[i].size;
    return sum <= memory;
}

struct dwarf *dwarf_open(int fd, const char *path, uint64_t memory)
{
    struct dwarf *d = pages_alloc(sizeof(*d));

    if (!d)
        return NULL;
    d->memory = memory;
    d->alternate_fd = -1;
    d->walk = (struct walk){.wanted = {.size = sizeof(struct wanted)},
                            .scopes = {.size = sizeof(struct scope)},
                            .levels = {.size = sizeof(struct level)}};
    d->rows.size = sizeof(struct dwarf_row);
    d->pcs.size = sizeof(uint64_t);
    d->frames.size = sizeof(struct frame_ref);
    d->answers.size = sizeof(struct symbol_frame);
    d->paths.size = 1;
    dwarf_abbrev_cache_init(&d->cache);
    dwarf_lines_init(&d->lines);
    if (!dwarf_file_open(&d->file, fd, &d->work)) {
        pages_free(d, sizeof(*d));
        return NULL;
    }
    d->work.left = WORK_BASE + d->file.elf.size * WORK_PER_BYTE;
    d->file.addresses = &d->file;
    split_files_init(&d->split, path);
    d->alternate_fd =
        alternate_open(&d->file.elf, path, &d->alternate, &d->work);
    if (d->alternate_fd >= 0) {
        d->file.alternate = &d->alternate;
        d->alternate.addresses = &d->alternate;
    }
    if (!fits(&d->file, memory) ||
        (d->file.alternate && !fits(&d->alternate, memory))) {
        dwarf_free(d);
        return NULL;
    }
    return d;
}

void dwarf_free(struct dwarf *d)
{
    if (!d)
        return;
    split_files_release(&d->split, &d->cache);
    if (d->file.alternate)
        alternate_close(&d->alternate, d->alternate_fd);
    dwarf_file_release(&d->file);
    dwarf_abbrev_cache_release(&d->cache);
    dwarf_lines_release(&d->lines);
    walk_release(&d->walk);
    pages_vec_release(&d->rows);
    pages_vec_release(&d->pcs);
    pages_vec_release(&d->frames);
    pages_vec_release(&d->answers);
    pages_vec_release(&d->paths);
    pages_free(d, sizeof(*d));
}

/* --- names -------------------------------------------------------------- */

struct name {
    const char *linkage, *plain;
    uint64_t decl_line;
};

static void take_name(const struct dwarf_unit *u, const struct dwarf_entry *e,
                      struct name *name)
{
    if (!name->linkage)
        name->linkage = dwarf_text(u, e->v[SLOT_LINKAGE_NAME]);
    if (!name->plain)
        name->plain = dwarf_text(u, e->v[SLOT_NAME]);
    if (!name->decl_line && e->v[SLOT_DECL_LINE].kind == VALUE_NUMBER)
        name->decl_line = e->v[SLOT_DECL_LINE].u;
}

/* The unit that a reference leads to. */
static const struct dwarf_unit *
follow(struct dwarf *d, const struct dwarf_unit *u, struct dwarf_value v)
{
    struct dwarf_file *f = u->file;
    struct dwarf_unit *to;

    if (v.kind == VALUE_REFERENCE && v.u >= u->offset && v.u < u->end)
        return u;
    if (v.kind == VALUE_REFERENCE_ALTERNATE)
        f = f->alternate;
    else if (v.kind != VALUE_REFERENCE)
        return NULL;
    to = f ? dwarf_unit_at(f, v.u) : NULL;
    return to && dwarf_unit_root(&d->cache, to) ? to : NULL;
}

/* An inlined or out-of-line copy has its name where it is declared: through
 * its abstract origin, and that one's specification. */
static void find_name(struct dwarf *d, const struct dwarf_unit *u,
                      uint64_t offset, struct name *out)
{
    *out = (struct name){0};
    for (int steps = 0; u && steps < 16; steps++) {
        const struct dwarf_abbrevs *abbrevs = dwarf_unit_abbrevs(&d->cache, u);
        struct dwarf_entry e;
        struct dwarf_value next;

        if (!abbrevs || !dwarf_entry_read(u, abbrevs, offset, &e))
            return;
        take_name(u, &e, out);
        if (out->linkage && out->decl_line)
            return;
        next =
            e.v[SLOT_ORIGIN].kind ? e.v[SLOT_ORIGIN] : e.v[SLOT_SPECIFICATION];
        u = follow(d, u, next);
        offset = next.u;
    }
}

/* --- answers ------------------------------------------------------------ */

static bool add_frame(struct dwarf *d, struct frame_ref frame)
{
    struct frame_ref *to = pages_vec_push(&d->frames, 1);

    if (to)
        *to = frame;
    return to != NULL;
}

/* From the innermost scope outwards: each one's place is the call in it. */
static bool collect(struct dwarf *d, const struct dwarf_unit *u,
                    const struct wanted *w, const struct dwarf_row *row)
{
    struct scope *scopes = d->walk.scopes.p;
    struct frame_ref next = {.file = row->file,
                             .line = row->line,
                             .column = row->column,
                             .has_file = row->is_known};
    uint32_t at = w->innermost;

    d->frames.n = 0;
    if (at == NO_SCOPE)
        return row->is_known && add_frame(d, next);
    for (; at != NO_SCOPE; at = scopes[at].parent) {
        struct scope *s = &scopes[at];

        if (!s->has_name) {
            struct name name;

            find_name(d, u, s->offset, &name);
            s->has_name = true;
            s->name = name.linkage ? name.linkage : name.plain;
            s->decl_line = name.decl_line;
        }
        next.function = s->name;
        next.start_line = s->decl_line;
        if (!add_frame(d, next))
            return false;
        next = (struct frame_ref){.file = s->call_file,
                                  .line = s->call_line,
                                  .column = s->call_column,
                                  .has_file = s->has_call};
    }
    return true;
}

static void report(struct dwarf *d, size_t index, symbol_found *found,
                   void *arg)
{
    struct frame_ref *refs = d->frames.p;
    struct symbol_frame *frames;

    d->paths.n = d->answers.n = 0;
    for (size_t i = 0; i < d->frames.n; i++) {
        refs[i].path = d->paths.n;
        if (refs[i].has_file)
            dwarf_lines_path(&d->lines, refs[i].file, &d->paths);
        refs[i].has_file = d->paths.n > refs[i].path;
    }
    frames = pages_vec_push(&d->answers, d->frames.n);
    for (size_t i = 0; frames && i < d->frames.n; i++)
        frames[i] = (struct symbol_frame){
            .function = str_from(refs[i].function),
            .file = refs[i].has_file
                        ? str_from((const char *)d->paths.p + refs[i].path)
                        : STR(""),
            .line = (int64_t)refs[i].line,
            .column = (int64_t)refs[i].column,
            .start_line = (int64_t)refs[i].start_line};
    if (frames)
        found(arg, index, frames, d->frames.n);
}

/* --- units -------------------------------------------------------------- */

struct choice {
    struct walk *walk;
    const uint64_t *addresses;
    size_t n;
    bool failed;
};

static void choose(void *arg, uint64_t low, uint64_t high)
{
    struct choice *c = arg;
    size_t i = search_first(at, 0, c->n, c->addresses[at] >= low);

    for (; i < c->n && c->addresses[i] < high && !c->failed; i++) {
        struct wanted *to = pages_vec_push(&c->walk->wanted, 1);

        c->failed = !to;
        if (to)
            *to = (struct wanted){c->addresses[i], i, NO_SCOPE};
    }
}

static int by_address(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

/* Finds the addresses that lie in the unit: all of them if it has no ranges. */
static bool find_wanted(struct dwarf *d, const struct dwarf_unit *u,
                        const uint64_t *addresses, size_t n)
{
    struct choice c = {&d->walk, addresses, n, false};
    struct wanted *v;
    size_t kept = 0;

    d->walk.wanted.n = 0;
    if (!dwarf_ranges(u, u->low_pc, u->high_pc, u->ranges, choose, &c) &&
        u->type != DW_UT_partial)
        choose(&c, 0, UINT64_MAX);
    v = d->walk.wanted.p;
    if (c.failed || d->walk.wanted.n == 0)
        return false;
    qsort(v, d->walk.wanted.n, sizeof(*v), by_address);
    for (size_t i = 0; i < d->walk.wanted.n; i++)
        if (i == 0 || v[i].index != v[i - 1].index)
            v[kept++] = v[i];
    d->walk.wanted.n = kept;
    return true;
}

static bool find_rows(struct dwarf *d, const struct dwarf_unit *u)
{
    size_t n = d->walk.wanted.n;
    const struct wanted *v = d->walk.wanted.p;
    struct dwarf_row *rows;
    uint64_t *pcs;

    d->rows.n = d->pcs.n = 0;
    rows = pages_vec_push(&d->rows, n);
    pcs = pages_vec_push(&d->pcs, n);
    if (!rows || !pcs)
        return false;
    for (size_t i = 0; i < n; i++) {
        pcs[i] = v[i].address;
        rows[i] = (struct dwarf_row){.is_known = false};
    }
    if (dwarf_lines_open(&d->lines, u))
        dwarf_lines_find(&d->lines, pcs, n, rows);
    return true;
}

static void resolve_unit(struct dwarf *d, struct dwarf_unit *u,
                         symbol_found *found, void *arg)
{
    struct dwarf_unit *code = u;
    const struct wanted *v = d->walk.wanted.p;
    const struct dwarf_row *rows;

    if (!find_rows(d, u))
        return;
    if (u->dwo_name.kind) {
        struct dwarf_unit *split = split_unit(&d->split, &d->cache, u);

        code = split ? split : u;
    }
    if (code->end - code->offset > d->memory) {
        d->left_out = true;
        return;
    }
    walk_unit(&d->walk, &d->cache, code);
    rows = d->rows.p;
    for (size_t i = 0; i < d->walk.wanted.n; i++)
        if (collect(d, code, &v[i], &rows[i]))
            report(d, v[i].index, found, arg);
}

bool dwarf_left_out(const struct dwarf *d)
{
    return d->left_out;
}

void dwarf_resolve(struct dwarf *d, const uint64_t *addresses, size_t n,
                   symbol_found *found, void *arg)
{
    uint64_t keep = d->memory < KEEP ? d->memory / 2 : KEEP;

    if (n == 0 || !dwarf_units_read(&d->file))
        return;
    for (size_t i = 0; i < d->file.units.n; i++) {
        struct dwarf_unit *u = (struct dwarf_unit *)d->file.units.p + i;

        if (u->type == DW_UT_type || !dwarf_unit_root(&d->cache, u) ||
            !find_wanted(d, u, addresses, n))
            continue;
        resolve_unit(d, u, found, arg);
        split_files_close(&d->split, &d->cache);
        if (dwarf_file_loaded(&d->file) > keep)
            dwarf_file_drop(&d->file);
        if (d->file.alternate && dwarf_file_loaded(&d->alternate) > keep)
            dwarf_file_drop(&d->alternate);
    }
}
