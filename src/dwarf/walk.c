/*
 * One pass over the entries of a unit that finds the innermost scope of each
 * wanted address.  Subtrees without code are skipped by their sibling
 * references where the compiler wrote them; a scope that holds none of the
 * wanted addresses is skipped, too.  The file decides how deep it nests, so
 * the levels are a list of our own and not recursion.
 */
#include "dwarf/walk.h"

#include <dwarf.h>

#include "base/search.h"

/* Deeper than any compiler nests; a limit for files that lie. */
#define MAX_DEPTH 8192

void walk_release(struct walk *w)
{
    pages_vec_release(&w->wanted);
    pages_vec_release(&w->scopes);
    pages_vec_release(&w->levels);
}

/* --- which addresses an entry holds ------------------------------------- */

struct cover {
    struct walk *walk;
    bool is_scope; /* else a block: what it holds keeps its scope */
    bool covers;
    uint32_t scope;
};

static void cover_range(void *arg, uint64_t low, uint64_t high)
{
    struct cover *c = arg;
    struct wanted *v = c->walk->wanted.p;
    size_t n = c->walk->wanted.n;
    size_t i = search_first(at, 0, n, v[at].address >= low);

    for (; i < n && v[i].address < high; i++) {
        c->covers = true;
        if (!c->is_scope)
            return;
        v[i].innermost = c->scope;
    }
}

static bool is_code(unsigned tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block;
}

static bool number(struct dwarf_value v, uint64_t *out)
{
    *out = v.kind == VALUE_NUMBER ? v.u : 0;
    return v.kind == VALUE_NUMBER;
}

static bool add_scope(struct walk *w, uint64_t offset, uint32_t parent,
                      const struct dwarf_value v[SLOTS])
{
    struct scope *s = pages_vec_push(&w->scopes, 1);

    if (!s)
        return false;
    *s = (struct scope){.offset = offset, .parent = parent};
    s->has_call = number(v[SLOT_CALL_FILE], &s->call_file);
    number(v[SLOT_CALL_LINE], &s->call_line);
    number(v[SLOT_CALL_COLUMN], &s->call_column);
    return true;
}

/* --- the walk ----------------------------------------------------------- */

struct position {
    struct walk *walk;
    const struct dwarf_unit *unit;
    const struct dwarf_abbrevs *abbrevs;
    struct cursor c; /* ends where the unit ends */
    bool thorough;   /* siblings are not jumped to */
};

static uint64_t offset_of(const struct position *p)
{
    return p->unit->end - cursor_left(&p->c);
}

/* Goes to the next entry of the same parent, if the file tells where. */
static void go_to(struct position *p, uint64_t offset)
{
    if (offset >= offset_of(p) && offset <= p->unit->end)
        cursor_skip(&p->c, offset - offset_of(p));
    else
        p->c.bad = true;
}

/* Steps over the values; returns the sibling's offset, 0 for none. */
static uint64_t skip_values(struct position *p, const struct dwarf_abbrev *a)
{
    const struct dwarf_attribute *v = dwarf_attributes(p->abbrevs, a);
    uint64_t sibling = 0;

    if (a->fixed != DWARF_VARIABLE) {
        const uint8_t *values = p->c.at;
        uint32_t offset;

        if (!cursor_skip(&p->c, a->fixed) || a->sibling_at == DWARF_VARIABLE)
            return 0;
        memcpy(&offset, values + a->sibling_at, sizeof(offset));
        return p->unit->offset + offset;
    }
    for (uint32_t i = 0; i < a->n && !p->c.bad; i++) {
        if (v[i].slot == SLOT_SIBLING)
            sibling =
                dwarf_value_read(p->unit, &p->c, v[i].form, p->unit->end).u;
        else
            dwarf_attribute_skip(&p->c, &v[i], p->unit->format);
    }
    return sibling;
}

static bool push_level(struct position *p, struct level level)
{
    struct level *to = p->walk->levels.n < MAX_DEPTH
                           ? pages_vec_push(&p->walk->levels, 1)
                           : NULL;

    if (to)
        *to = level;
    return to != NULL;
}

/* A function, inlined call or block with addresses. */
static bool enter_code(struct position *p, const struct dwarf_abbrev *a,
                       uint64_t offset, struct level level)
{
    struct dwarf_value v[SLOTS] = {0};
    struct cover cover = {.walk = p->walk};
    uint32_t parent = a->tag == DW_TAG_subprogram ? NO_SCOPE : level.scope;

    dwarf_values_read(p->unit, p->abbrevs, a, &p->c, p->unit->end, v);
    if (p->c.bad || !dwarf_spend(p->unit->file->work, 1))
        return false;
    cover.is_scope =
        a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine;
    cover.scope = (uint32_t)p->walk->scopes.n;
    dwarf_ranges(p->unit, v[SLOT_LOW_PC], v[SLOT_HIGH_PC], v[SLOT_RANGES],
                 cover_range, &cover);
    if (cover.covers && cover.is_scope) {
        if (!add_scope(p->walk, offset, parent, v))
            return false;
        parent = cover.scope;
    }
    if (!a->has_children)
        return true;
    if (!cover.covers && !p->thorough &&
        v[SLOT_SIBLING].kind == VALUE_REFERENCE) {
        go_to(p, v[SLOT_SIBLING].u);
        return true;
    }
    return push_level(p, (struct level){parent, !cover.covers, true});
}

/* Anything else: its children may have code, but not those of what a
 * compiler that tells siblings (gcc) describes as a type. */
static bool enter_other(struct position *p, const struct dwarf_abbrev *a,
                        struct level level)
{
    uint64_t sibling = skip_values(p, a);
    bool encloses = a->tag == DW_TAG_namespace || a->tag == DW_TAG_module ||
                    a->tag == DW_TAG_lexical_block;

    if (!a->has_children)
        return true;
    if (sibling && (p->thorough ? !level.in_function && !encloses &&
                                      a->tag != DW_TAG_subprogram
                                : level.skipping || !encloses)) {
        go_to(p, sibling);
        return true;
    }
    if (a->tag == DW_TAG_subprogram)
        level.skipping = level.in_function = true;
    return push_level(p, level);
}

static bool step(struct position *p)
{
    uint64_t offset = offset_of(p);
    uint64_t code = cursor_uleb(&p->c);
    const struct level *levels = p->walk->levels.p;
    const struct dwarf_abbrev *a;
    struct level level = {.scope = NO_SCOPE};

    if (code == 0) {
        if (p->walk->levels.n)
            p->walk->levels.n--;
        return p->walk->levels.n > 0;
    }
    a = dwarf_abbrev_find(p->abbrevs, code);
    if (!a)
        return false;
    if (p->walk->levels.n)
        level = levels[p->walk->levels.n - 1];
    else /* the unit itself */
        return skip_values(p, a), a->has_children && push_level(p, level);
    if (a->has_code && is_code(a->tag) &&
        (!level.skipping || a->tag == DW_TAG_subprogram))
        return enter_code(p, a, offset, level);
    return enter_other(p, a, level);
}

static void walk_all(struct position p)
{
    p.walk->levels.n = 0;
    while (!p.c.bad && step(&p))
        ;
}

static bool all_found(const struct walk *w)
{
    const struct wanted *v = w->wanted.p;

    for (size_t i = 0; i < w->wanted.n; i++)
        if (v[i].innermost == NO_SCOPE)
            return false;
    return true;
}

void walk_unit(struct walk *w, struct dwarf_abbrev_cache *cache,
               const struct dwarf_unit *u)
{
    struct position p = {.walk = w, .unit = u};
    uint64_t n = u->end - u->first_entry;
    const uint8_t *bytes =
        elf_section_window(&u->file->sections[DWARF_INFO], u->first_entry, n);

    w->scopes.n = 0;
    p.abbrevs = dwarf_unit_abbrevs(cache, u);
    if (!bytes || !p.abbrevs || !dwarf_spend(u->file->work, n))
        return;
    p.c = cursor_of(bytes, n);
    walk_all(p);
    /* Functions inside others that were jumped over: gcc leaves those of
     * local types and lambdas there.  Types that are in no function are
     * jumped over still. */
    p.thorough = true;
    if (!all_found(w) && dwarf_spend(u->file->work, n))
        walk_all(p);
}
