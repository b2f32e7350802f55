/*
 * Ranges of code: one pair of addresses, or a list in .debug_ranges (up to
 * DWARF 4) or .debug_rnglists (DWARF 5).
 */
#include <dwarf.h>

#include "dwarf/unit.h"

/* A list is read this many bytes at a time: its end is not told. */
#define PART 4096

struct list {
    const struct dwarf_unit *unit;
    struct elf_section *section;
    uint64_t at;
    struct cursor c;
    uint64_t base;
    dwarf_range *visit;
    void *arg;
};

static void report(const struct list *l, uint64_t low, uint64_t high)
{
    if (low < high)
        l->visit(l->arg, low, high);
}

/* Room for one more entry in the cursor, if the section has as much. */
static bool fill(struct list *l)
{
    uint64_t left;
    const uint8_t *p;

    if (cursor_left(&l->c) >= 64)
        return dwarf_spend(l->unit->file->work, 1);
    l->at -= cursor_left(&l->c);
    if (l->at >= l->section->size)
        return false;
    left = l->section->size - l->at;
    if (left > PART)
        left = PART;
    p = elf_section_at(l->section, l->at, left);
    if (!p)
        return false;
    l->c = cursor_of(p, left);
    l->at += left;
    return dwarf_spend(l->unit->file->work, 1);
}

/* DWARF 2 to 4: pairs of addresses from a base. */
static void read_pairs(struct list *l)
{
    unsigned size = l->unit->format.address_size;
    uint64_t last = size == 8 ? UINT64_MAX : UINT32_MAX;

    while (fill(l)) {
        uint64_t low = dwarf_number(&l->c, size);
        uint64_t high = dwarf_number(&l->c, size);

        if (l->c.bad || (low == 0 && high == 0))
            return;
        if (low == last)
            l->base = high;
        else
            report(l, l->base + low, l->base + high);
    }
}

static bool indexed_address(const struct list *l, uint64_t index, uint64_t *out)
{
    return dwarf_address(l->unit,
                         (struct dwarf_value){index, VALUE_ADDRESS_INDEX}, out);
}

/* One entry of DWARF 5's; false at the end. */
static bool read_entry(struct list *l)
{
    struct cursor *c = &l->c;
    unsigned size = l->unit->format.address_size;
    uint64_t low, high;

    switch (cursor_u8(c)) {
    case DW_RLE_base_addressx:
        return indexed_address(l, cursor_uleb(c), &l->base);
    case DW_RLE_startx_endx:
        if (!indexed_address(l, cursor_uleb(c), &low) ||
            !indexed_address(l, cursor_uleb(c), &high))
            return false;
        break;
    case DW_RLE_startx_length:
        if (!indexed_address(l, cursor_uleb(c), &low))
            return false;
        high = low + cursor_uleb(c);
        break;
    case DW_RLE_offset_pair:
        low = l->base + cursor_uleb(c);
        high = l->base + cursor_uleb(c);
        break;
    case DW_RLE_base_address:
        l->base = dwarf_number(c, size);
        return !c->bad;
    case DW_RLE_start_end:
        low = dwarf_number(c, size);
        high = dwarf_number(c, size);
        break;
    case DW_RLE_start_length:
        low = dwarf_number(c, size);
        high = low + cursor_uleb(c);
        break;
    default: /* DW_RLE_end_of_list */
        return false;
    }
    if (!c->bad)
        report(l, low, high);
    return !c->bad;
}

/* Where a list given by its number starts. */
static bool list_offset(const struct dwarf_unit *u, uint64_t index,
                        uint64_t *out)
{
    unsigned size = u->format.offset_size;
    struct elf_section *s = &u->file->sections[DWARF_RNGLISTS];
    uint64_t base = u->share.rnglists + u->rnglists_base;
    const uint8_t *p;
    struct cursor c;

    if (index > s->size / size)
        return false;
    p = elf_section_at(s, base + index * size, size);
    c = cursor_of(p, p ? size : 0);
    *out = base + dwarf_number(&c, size);
    return p != NULL;
}

static bool read_list(const struct dwarf_unit *u, struct dwarf_value ranges,
                      dwarf_range *visit, void *arg)
{
    struct list l = {.unit = u,
                     .at = ranges.u,
                     .c = cursor_of(NULL, 0),
                     .base = u->base,
                     .visit = visit,
                     .arg = arg};

    if (u->format.version < 5) {
        /* Split units of DWARF 4 have theirs beside the skeletons. */
        l.section = &u->file->addresses->sections[DWARF_RANGES];
        l.at += u->ranges_base;
        read_pairs(&l);
        return true;
    }
    l.section = &u->file->sections[DWARF_RNGLISTS];
    if (ranges.kind != VALUE_LIST_INDEX)
        l.at += u->share.rnglists;
    else if (!list_offset(u, ranges.u, &l.at))
        return false;
    while (fill(&l) && read_entry(&l))
        ;
    return true;
}

bool dwarf_ranges(const struct dwarf_unit *u, const struct dwarf_value low,
                  const struct dwarf_value high,
                  const struct dwarf_value ranges, dwarf_range *visit,
                  void *arg)
{
    uint64_t from, to;

    if (ranges.kind == VALUE_OFFSET || ranges.kind == VALUE_NUMBER ||
        ranges.kind == VALUE_LIST_INDEX)
        return read_list(u, ranges, visit, arg);
    if (!dwarf_address(u, low, &from))
        return false;
    if (high.kind == VALUE_NUMBER)
        to = from + high.u;
    else if (!dwarf_address(u, high, &to))
        return false;
    if (from < to)
        visit(arg, from, to);
    return true;
}
