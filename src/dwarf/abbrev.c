/*
 * Abbreviation tables, and a cache of the last few: neighbouring units usually
 * share one, or use a few in turn.  While a table is read, each form's size is
 * computed once, so that entries without variable parts can later be skipped
 * in one step.
 */
#include "dwarf/abbrev.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "elf/cursor.h"

#define MAX_TABLE ((uint64_t)1 << 26) /* bytes of one table */

static uint8_t slot_of(uint64_t name)
{
    switch (name) {
    case DW_AT_sibling:
        return SLOT_SIBLING;
    case DW_AT_name:
        return SLOT_NAME;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return SLOT_LINKAGE_NAME;
    case DW_AT_low_pc:
        return SLOT_LOW_PC;
    case DW_AT_high_pc:
        return SLOT_HIGH_PC;
    case DW_AT_ranges:
        return SLOT_RANGES;
    case DW_AT_abstract_origin:
        return SLOT_ORIGIN;
    case DW_AT_specification:
        return SLOT_SPECIFICATION;
    case DW_AT_decl_line:
        return SLOT_DECL_LINE;
    case DW_AT_call_file:
        return SLOT_CALL_FILE;
    case DW_AT_call_line:
        return SLOT_CALL_LINE;
    case DW_AT_call_column:
        return SLOT_CALL_COLUMN;
    case DW_AT_comp_dir:
        return SLOT_COMP_DIR;
    case DW_AT_stmt_list:
        return SLOT_STMT_LIST;
    case DW_AT_str_offsets_base:
        return SLOT_STR_OFFSETS_BASE;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        return SLOT_ADDR_BASE;
    case DW_AT_rnglists_base:
        return SLOT_RNGLISTS_BASE;
    case DW_AT_GNU_ranges_base:
        return SLOT_GNU_RANGES_BASE;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        return SLOT_DWO_NAME;
    case DW_AT_GNU_dwo_id:
        return SLOT_DWO_ID;
    default:
        return SLOT_NONE;
    }
}

uint32_t dwarf_form_size(unsigned form, struct dwarf_format format)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return format.address_size;
    case DW_FORM_ref_addr:
        return format.version <= 2 ? format.address_size : format.offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return format.offset_size;
    default:
        return DWARF_VARIABLE;
    }
}

static bool read_attributes(struct dwarf_abbrevs *t, struct cursor *c,
                            struct dwarf_abbrev *a)
{
    a->first = (uint32_t)t->attributes.n;
    for (;;) {
        uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
        struct dwarf_attribute *to;
        uint8_t slot = slot_of(name);
        uint32_t size;

        if (c->bad)
            return false;
        if (name == 0 && form == 0)
            return true;
        to = pages_vec_push(&t->attributes, 1);
        if (!to || form > UINT16_MAX)
            return false;
        size = dwarf_form_size((unsigned)form, t->format);
        if (slot == SLOT_SIBLING && form == DW_FORM_ref4)
            a->sibling_at = a->fixed;
        else if (slot == SLOT_SIBLING)
            a->fixed = DWARF_VARIABLE; /* read value by value */
        *to = (struct dwarf_attribute){
            .form = (uint16_t)form,
            .slot = slot,
            .size =
                size == DWARF_VARIABLE ? DWARF_VARIABLE_SIZE : (uint8_t)size,
        };
        if (form == DW_FORM_implicit_const)
            to->constant = cursor_sleb(c);
        if (size == DWARF_VARIABLE || a->fixed == DWARF_VARIABLE)
            a->fixed = DWARF_VARIABLE;
        else
            a->fixed += size;
        a->n++;
        a->has_sibling |= to->slot == SLOT_SIBLING;
        a->has_code |= to->slot == SLOT_LOW_PC || to->slot == SLOT_RANGES;
    }
}

static int by_code(const void *a, const void *b)
{
    const struct dwarf_abbrev *x = a, *y = b;

    return (x->code > y->code) - (x->code < y->code);
}

static bool read_table(struct dwarf_abbrevs *t, struct cursor *c)
{
    struct dwarf_abbrev *v;
    bool sorted = true;

    for (;;) {
        struct dwarf_abbrev a = {.sibling_at = DWARF_VARIABLE}, *to;

        a.code = cursor_uleb(c);
        if (a.code == 0)
            break;
        a.tag = (uint16_t)cursor_uleb(c);
        a.has_children = cursor_u8(c) != 0;
        if (!read_attributes(t, c, &a))
            return false;
        v = t->list.p;
        sorted &= t->list.n == 0 || v[t->list.n - 1].code < a.code;
        to = pages_vec_push(&t->list, 1);
        if (!to)
            return false;
        *to = a;
    }
    if (!sorted)
        qsort(t->list.p, t->list.n, sizeof(struct dwarf_abbrev), by_code);
    return !c->bad && t->list.n > 0;
}

static bool load(struct dwarf_abbrevs *t, struct dwarf_file *file,
                 uint64_t offset, struct dwarf_format format)
{
    struct elf_section *s = &file->sections[DWARF_ABBREV];
    uint64_t n = offset < s->size ? s->size - offset : 0;

    t->file = file;
    t->offset = offset;
    t->format = format;
    /* Its length is not known: read more until it ends. */
    for (uint64_t part = 4096; n; part *= 8) {
        uint64_t take = part < n ? part : n;
        const uint8_t *p = elf_section_at(s, offset, take);
        struct cursor c = cursor_of(p, p ? take : 0);

        t->list.n = t->attributes.n = 0;
        if (!p || part > MAX_TABLE || !dwarf_spend(file->work, take / 4))
            break;
        if (read_table(t, &c))
            return true;
        if (take == n)
            break;
    }
    t->file = NULL;
    return false;
}

void dwarf_abbrev_cache_init(struct dwarf_abbrev_cache *cache)
{
    *cache = (struct dwarf_abbrev_cache){.clock = 0};
    for (size_t i = 0; i < DWARF_ABBREV_TABLES; i++) {
        cache->tables[i].list.size = sizeof(struct dwarf_abbrev);
        cache->tables[i].attributes.size = sizeof(struct dwarf_attribute);
    }
}

void dwarf_abbrev_cache_release(struct dwarf_abbrev_cache *cache)
{
    for (size_t i = 0; i < DWARF_ABBREV_TABLES; i++) {
        pages_vec_release(&cache->tables[i].list);
        pages_vec_release(&cache->tables[i].attributes);
    }
}

void dwarf_abbrev_cache_forget(struct dwarf_abbrev_cache *cache,
                               const struct dwarf_file *file)
{
    for (size_t i = 0; i < DWARF_ABBREV_TABLES; i++)
        if (cache->tables[i].file == file)
            cache->tables[i].file = NULL;
}

static bool same_format(struct dwarf_format a, struct dwarf_format b)
{
    return a.version == b.version && a.address_size == b.address_size &&
           a.offset_size == b.offset_size;
}

const struct dwarf_abbrevs *dwarf_abbrevs_of(struct dwarf_abbrev_cache *cache,
                                             struct dwarf_file *file,
                                             uint64_t offset,
                                             struct dwarf_format format)
{
    struct dwarf_abbrevs *oldest = &cache->tables[0];

    for (size_t i = 0; i < DWARF_ABBREV_TABLES; i++) {
        struct dwarf_abbrevs *t = &cache->tables[i];

        if (t->file == file && t->offset == offset &&
            same_format(t->format, format)) {
            t->used = ++cache->clock;
            return t;
        }
        if (t->used < oldest->used)
            oldest = t;
    }
    oldest->used = ++cache->clock;
    return load(oldest, file, offset, format) ? oldest : NULL;
}

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *t,
                                             uint64_t code)
{
    const struct dwarf_abbrev *v = t->list.p;
    size_t n = t->list.n, at;

    /* Codes mostly count from one. */
    if (code - 1 < n && v[code - 1].code == code)
        return &v[code - 1];
    at = search_first(i, 0, n, v[i].code >= code);
    return at < n && v[at].code == code ? &v[at] : NULL;
}
