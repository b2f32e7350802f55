/*
 * libdw answers one address at a time, walking the whole unit for each (6 to
 * 8 ms an address in a large C++ unit).  Here the addresses that a unit
 * covers are carried through one walk of it: a function or inlined call
 * takes with it the part of the sorted addresses that lies in its ranges, and
 * a subtree that covers none is not entered.
 */
#include "symbol/debug_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* A function or inlined call whose code holds an address. */
struct scope {
    Dwarf_Die die;
    uint32_t parent; /* index of the scope around it, or NO_SCOPE */
};

#define NO_SCOPE UINT32_MAX

/* An address that the unit under way covers. */
struct wanted {
    uint64_t address;
    size_t index;       /* the caller's */
    uint32_t innermost; /* scope that holds it */
};

struct walk {
    struct arena *arena;
    Dwarf_Die unit;
    VEC(struct wanted) wanted; /* by address */
    VEC(struct scope) scopes;
    VEC(struct object_frame) frames;
};

/* Index of the first of v[from..to) that is not below `address`. */
static size_t lower_bound(const struct wanted *v, size_t from, size_t to,
                          uint64_t address)
{
    while (from < to) {
        size_t mid = from + (to - from) / 2;

        if (v[mid].address < address)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void walk_children(struct walk *w, Dwarf_Die *die, uint32_t parent,
                          size_t from, size_t to);

/* Enters a function or block with those of [from, to) that it covers. */
static void walk_code(struct walk *w, Dwarf_Die *die, uint32_t parent,
                      size_t from, size_t to, bool is_scope)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    uint32_t self = parent;

    while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
        size_t a = lower_bound(w->wanted.v, from, to, low);
        size_t b = lower_bound(w->wanted.v, a, to, high);

        if (a == b)
            continue;
        if (is_scope && self == parent) {
            self = (uint32_t)w->scopes.n;
            *vec_push(w->arena, &w->scopes) =
                (struct scope){.die = *die, .parent = parent};
        }
        for (size_t i = a; i < b; i++)
            w->wanted.v[i].innermost = self;
        walk_children(w, die, self, a, b);
    }
}

static void walk_die(struct walk *w, Dwarf_Die *die, uint32_t parent,
                     size_t from, size_t to)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        walk_code(w, die, NO_SCOPE, from, to, true);
        break;
    case DW_TAG_inlined_subroutine:
        walk_code(w, die, parent, from, to, true);
        break;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        walk_code(w, die, parent, from, to, false);
        break;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        walk_children(w, die, parent, from, to);
        break;
    default:
        break;
    }
}

static void walk_children(struct walk *w, Dwarf_Die *die, uint32_t parent,
                          size_t from, size_t to)
{
    Dwarf_Die child;

    if (dwarf_child(die, &child) != 0)
        return;
    do
        walk_die(w, &child, parent, from, to);
    while (dwarf_siblingof(&child, &child) == 0);
}

static struct str text_attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;

    return str_from(dwarf_formstring(dwarf_attr_integrate(die, name, &a)));
}

static int64_t number_attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    Dwarf_Word v;

    if (dwarf_formudata(dwarf_attr_integrate(die, name, &a), &v) != 0)
        return 0;
    return (int64_t)v;
}

static struct str function_name(Dwarf_Die *die)
{
    struct str name = text_attribute(die, DW_AT_linkage_name);

    if (name.n == 0)
        name = text_attribute(die, DW_AT_MIPS_linkage_name);
    if (name.n == 0)
        name = text_attribute(die, DW_AT_name);
    return name;
}

/* Where an inlined call stands in the function around it. */
static void set_call_site(struct walk *w, Dwarf_Die *call,
                          struct object_frame *frame)
{
    Dwarf_Word file = (Dwarf_Word)number_attribute(call, DW_AT_call_file);
    Dwarf_Files *files;
    size_t n;

    if (dwarf_getsrcfiles(&w->unit, &files, &n) == 0 && file < n)
        frame->file = str_from(dwarf_filesrc(files, file, NULL, NULL));
    frame->line = number_attribute(call, DW_AT_call_line);
    frame->column = number_attribute(call, DW_AT_call_column);
}

static void set_line(struct walk *w, uint64_t address,
                     struct object_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(&w->unit, address);
    int number, column;

    if (!line)
        return;
    frame->file = str_from(dwarf_linesrc(line, NULL, NULL));
    if (dwarf_lineno(line, &number) == 0)
        frame->line = number;
    if (dwarf_linecol(line, &column) == 0)
        frame->column = column;
}

static void report(struct walk *w, const struct wanted *wanted,
                   object_found *found, void *arg)
{
    uint32_t at = wanted->innermost;
    struct object_frame next = {0};

    w->frames.n = 0;
    set_line(w, wanted->address, &next);
    if (at == NO_SCOPE && next.line == 0)
        return;
    if (at == NO_SCOPE)
        *vec_push(w->arena, &w->frames) = next;
    for (; at != NO_SCOPE; at = w->scopes.v[at].parent) {
        Dwarf_Die *die = &w->scopes.v[at].die;

        next.function = function_name(die);
        next.start_line = number_attribute(die, DW_AT_decl_line);
        *vec_push(w->arena, &w->frames) = next;
        next = (struct object_frame){0};
        set_call_site(w, die, &next);
    }
    found(arg, wanted->index, w->frames.v, w->frames.n);
}

static int compare_wanted(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

/* Which of the addresses lie in the unit's ranges? */
static void find_wanted(struct walk *w, const struct wanted *all, size_t n)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;

    w->wanted.n = 0;
    while ((next = dwarf_ranges(&w->unit, next, &base, &low, &high)) > 0) {
        size_t from = lower_bound(all, 0, n, low);
        size_t to = lower_bound(all, from, n, high);

        for (; from < to; from++)
            *vec_push(w->arena, &w->wanted) = all[from];
    }
    if (w->wanted.n)
        qsort(w->wanted.v, w->wanted.n, sizeof(*w->wanted.v), compare_wanted);
}

void debug_info_resolve(Dwarf *dwarf, struct arena *arena,
                        const uint64_t *addresses, size_t n,
                        object_found *found, void *arg)
{
    struct wanted *all = arena_new_array(arena, struct wanted, n);
    struct walk w = {.arena = arena};
    Dwarf_CU *unit = NULL;
    Dwarf_Die split;
    uint8_t type;

    for (size_t i = 0; i < n; i++)
        all[i] = (struct wanted){addresses[i], i, NO_SCOPE};
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &w.unit, &split) ==
           0) {
        bool has_split = type == DW_UT_skeleton && split.addr != NULL;

        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        find_wanted(&w, all, n);
        if (w.wanted.n == 0)
            continue;
        w.scopes.n = 0;
        walk_children(&w, has_split ? &split : &w.unit, NO_SCOPE, 0,
                      w.wanted.n);
        for (size_t i = 0; i < w.wanted.n; i++)
            report(&w, &w.wanted.v[i], found, arg);
    }
}
