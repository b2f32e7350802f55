/*
 * Unit headers, the first entry of each, and lookup by offset.  Headers are
 * read for all units at once because they form a chain; first entries only for
 * units that are asked about.
 */
#include "dwarf/unit.h"

#include <assert.h>
#include <dwarf.h>

#include "base/search.h"

#define MAX_HEADER 64

bool dwarf_unit_header(struct dwarf_file *f, uint64_t offset,
                       struct dwarf_unit *u)
{
    struct elf_section *info = &f->sections[DWARF_INFO];
    uint64_t left = offset < info->size ? info->size - offset : 0;
    uint64_t n = left < MAX_HEADER ? left : MAX_HEADER;
    const uint8_t *p = elf_section_at(info, offset, n);
    struct cursor c = cursor_of(p, p ? n : 0);
    uint64_t length = cursor_u32(&c);

    *u = (struct dwarf_unit){.file = f, .offset = offset};
    u->format.offset_size = 4;
    if (length == UINT32_MAX) {
        length = cursor_u64(&c);
        u->format.offset_size = 8;
    }
    u->end = offset + (n - cursor_left(&c)) + length;
    u->format.version = (uint8_t)cursor_u16(&c);
    u->type = DW_UT_compile;
    if (u->format.version >= 5) {
        u->type = cursor_u8(&c);
        u->format.address_size = cursor_u8(&c);
        u->abbrev_offset = dwarf_number(&c, u->format.offset_size);
        if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
            u->dwo_id = cursor_u64(&c);
        else if (u->type == DW_UT_type || u->type == DW_UT_split_type)
            cursor_skip(&c, 8 + u->format.offset_size);
    } else {
        u->abbrev_offset = dwarf_number(&c, u->format.offset_size);
        u->format.address_size = cursor_u8(&c);
    }
    u->first_entry = offset + (n - cursor_left(&c));
    return p && !c.bad && length <= info->size - offset &&
           u->end <= info->size && u->first_entry < u->end;
}

static bool is_known(const struct dwarf_unit *u)
{
    return u->format.version >= 2 && u->format.version <= 5 &&
           (u->format.address_size == 8 || u->format.address_size == 4);
}

bool dwarf_units_read(struct dwarf_file *f)
{
    struct dwarf_unit u;

    if (f->has_units)
        return true;
    f->has_units = true;
    assert(f->units.n == 0);
    f->units.size = sizeof(struct dwarf_unit);
    for (uint64_t at = 0; at < f->sections[DWARF_INFO].size; at = u.end) {
        struct dwarf_unit *to;

        if (!dwarf_spend(f->work, 1) || !dwarf_unit_header(f, at, &u))
            break; /* what came before may be used */
        if (!is_known(&u))
            continue;
        to = pages_vec_push(&f->units, 1);
        if (!to)
            return false;
        *to = u;
    }
    return true;
}

struct dwarf_unit *dwarf_unit_at(struct dwarf_file *f, uint64_t offset)
{
    struct dwarf_unit *v;
    size_t next;

    if (!dwarf_units_read(f))
        return NULL;
    v = f->units.p;
    next = search_first(i, 0, f->units.n, v[i].offset > offset);
    return next && offset < v[next - 1].end ? &v[next - 1] : NULL;
}

static bool read_entry(const struct dwarf_unit *u,
                       const struct dwarf_abbrevs *abbrevs, uint64_t n,
                       struct dwarf_entry *out)
{
    const uint8_t *p =
        elf_section_at(&u->file->sections[DWARF_INFO], out->offset, n);
    struct cursor c = cursor_of(p, p ? n : 0);
    const struct dwarf_abbrev *a = dwarf_abbrev_find(abbrevs, cursor_uleb(&c));

    if (c.bad || !a || !dwarf_spend(u->file->work, a->n))
        return false;
    out->tag = a->tag;
    out->has_children = a->has_children;
    dwarf_values_read(u, abbrevs, a, &c, out->offset + n, out->v);
    out->next = out->offset + (n - cursor_left(&c));
    return !c.bad;
}

bool dwarf_entry_read(const struct dwarf_unit *u,
                      const struct dwarf_abbrevs *abbrevs, uint64_t offset,
                      struct dwarf_entry *out)
{
    uint64_t left;

    if (offset < u->first_entry || offset >= u->end)
        return false;
    /* Few entries are longer than the first try. */
    left = u->end - offset;
    for (uint64_t n = 512;; n *= 64) {
        *out = (struct dwarf_entry){.offset = offset};
        if (read_entry(u, abbrevs, n < left ? n : left, out))
            return true;
        if (n >= left)
            return false;
    }
}

const struct dwarf_abbrevs *dwarf_unit_abbrevs(struct dwarf_abbrev_cache *cache,
                                               const struct dwarf_unit *u)
{
    return dwarf_abbrevs_of(cache, u->file, u->share.abbrev + u->abbrev_offset,
                            u->format);
}

static uint64_t number_or(struct dwarf_value v, uint64_t otherwise)
{
    return v.kind == VALUE_OFFSET || v.kind == VALUE_NUMBER ? v.u : otherwise;
}

/* Where the tables of a split unit start: behind the section's header. */
static uint64_t default_base(const struct dwarf_unit *u, uint64_t header)
{
    if (!u->file->is_split || u->format.version < 5)
        return 0;
    return u->format.offset_size == 8 ? header + 8 : header;
}

bool dwarf_unit_root(struct dwarf_abbrev_cache *cache, struct dwarf_unit *u)
{
    const struct dwarf_abbrevs *abbrevs = dwarf_unit_abbrevs(cache, u);
    struct dwarf_entry e;

    if (u->has_root)
        return true;
    if (!abbrevs || !dwarf_entry_read(u, abbrevs, u->first_entry, &e))
        return false;
    u->has_root = true;
    u->low_pc = e.v[SLOT_LOW_PC];
    u->high_pc = e.v[SLOT_HIGH_PC];
    u->ranges = e.v[SLOT_RANGES];
    u->comp_dir = e.v[SLOT_COMP_DIR];
    u->dwo_name = e.v[SLOT_DWO_NAME];
    u->line = e.v[SLOT_STMT_LIST];
    u->str_offsets_base =
        number_or(e.v[SLOT_STR_OFFSETS_BASE], default_base(u, 8));
    u->rnglists_base = number_or(e.v[SLOT_RNGLISTS_BASE], default_base(u, 12));
    u->addr_base = number_or(e.v[SLOT_ADDR_BASE], 0);
    if (e.v[SLOT_DWO_ID].kind == VALUE_NUMBER)
        u->dwo_id = e.v[SLOT_DWO_ID].u;
    /* For the entries of the split unit, not for this one. */
    u->split_ranges_base = number_or(e.v[SLOT_GNU_RANGES_BASE], 0);
    if (!dwarf_address(u, u->low_pc, &u->base))
        u->base = 0;
    return true;
}
