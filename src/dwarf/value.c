/*
 * The values of entries: numbers, texts, addresses, references.
 */
#include <dwarf.h>

#include "dwarf/unit.h"

uint64_t dwarf_number(struct cursor *c, unsigned size)
{
    uint64_t v = 0;

    cursor_copy(c, &v, size <= sizeof(v) ? size : 0);
    return v;
}

static bool skip_block(struct cursor *c, unsigned form)
{
    switch (form) {
    case DW_FORM_block1:
        return cursor_skip(c, cursor_u8(c));
    case DW_FORM_block2:
        return cursor_skip(c, cursor_u16(c));
    case DW_FORM_block4:
        return cursor_skip(c, cursor_u32(c));
    case DW_FORM_block:
    case DW_FORM_exprloc:
        return cursor_skip(c, cursor_uleb(c));
    default:
        return false;
    }
}

bool dwarf_form_skip(struct cursor *c, unsigned form,
                     struct dwarf_format format)
{
    uint32_t size = dwarf_form_size(form, format);

    if (size != DWARF_VARIABLE)
        return cursor_skip(c, size);
    switch (form) {
    case DW_FORM_string:
        cursor_cstr(c);
        return !c->bad;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        cursor_uleb(c);
        return !c->bad;
    case DW_FORM_indirect:
        form = (unsigned)cursor_uleb(c);
        /* One level: a chain of them would be a loop of the file's making. */
        return form != DW_FORM_indirect && form != DW_FORM_implicit_const &&
               dwarf_form_skip(c, form, format);
    default:
        return skip_block(c, form);
    }
}

static struct dwarf_value value_of(enum dwarf_value_kind kind, uint64_t u)
{
    return (struct dwarf_value){u, kind};
}

/* A value whose size is fixed. */
static struct dwarf_value fixed_value(const struct dwarf_unit *u,
                                      struct cursor *c, unsigned form,
                                      uint32_t size)
{
    uint64_t n = dwarf_number(c, size);

    switch (form) {
    case DW_FORM_addr:
        return value_of(VALUE_ADDRESS, n);
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        return value_of(VALUE_ADDRESS_INDEX, n);
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        return value_of(VALUE_TEXT_INDEX, n);
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
        return value_of(VALUE_REFERENCE, u->offset + n);
    case DW_FORM_ref_addr:
        return value_of(VALUE_REFERENCE, n);
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
        return value_of(VALUE_REFERENCE_ALTERNATE, n);
    case DW_FORM_strp:
        return value_of(VALUE_TEXT_STR, n);
    case DW_FORM_line_strp:
        return value_of(VALUE_TEXT_LINE_STR, n);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        return value_of(VALUE_TEXT_ALTERNATE, n);
    case DW_FORM_sec_offset:
        return value_of(VALUE_OFFSET, n);
    case DW_FORM_flag_present:
        return value_of(VALUE_NUMBER, 1);
    case DW_FORM_ref_sig8:
        return value_of(VALUE_OTHER, n);
    default:
        return value_of(VALUE_NUMBER, n);
    }
}

struct dwarf_value dwarf_value_read(const struct dwarf_unit *u,
                                    struct cursor *c, unsigned form,
                                    uint64_t end)
{
    uint32_t size = dwarf_form_size(form, u->format);

    if (size <= 8)
        return fixed_value(u, c, form, size);
    switch (form) {
    case DW_FORM_string: {
        uint64_t at = end - cursor_left(c);

        cursor_cstr(c);
        return value_of(VALUE_TEXT, at);
    }
    case DW_FORM_udata:
        return value_of(VALUE_NUMBER, cursor_uleb(c));
    case DW_FORM_sdata:
        return value_of(VALUE_NUMBER, (uint64_t)cursor_sleb(c));
    case DW_FORM_ref_udata:
        return value_of(VALUE_REFERENCE, u->offset + cursor_uleb(c));
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
        return value_of(VALUE_TEXT_INDEX, cursor_uleb(c));
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
        return value_of(VALUE_ADDRESS_INDEX, cursor_uleb(c));
    case DW_FORM_rnglistx:
        return value_of(VALUE_LIST_INDEX, cursor_uleb(c));
    case DW_FORM_indirect:
        form = (unsigned)cursor_uleb(c);
        if (form != DW_FORM_indirect && form != DW_FORM_implicit_const)
            return dwarf_value_read(u, c, form, end);
        c->bad = true;
        return value_of(VALUE_NONE, 0);
    default:
        c->bad |= !dwarf_form_skip(c, form, u->format);
        return value_of(VALUE_OTHER, 0);
    }
}

void dwarf_values_read(const struct dwarf_unit *u,
                       const struct dwarf_abbrevs *t,
                       const struct dwarf_abbrev *a, struct cursor *c,
                       uint64_t end, struct dwarf_value v[SLOTS])
{
    const struct dwarf_attribute *attributes = dwarf_attributes(t, a);

    for (uint32_t i = 0; i < a->n && !c->bad; i++) {
        const struct dwarf_attribute *at = &attributes[i];

        if (at->slot == SLOT_NONE)
            dwarf_attribute_skip(c, at, u->format);
        else if (at->form == DW_FORM_implicit_const)
            v[at->slot] = value_of(VALUE_NUMBER, (uint64_t)at->constant);
        else
            v[at->slot] = dwarf_value_read(u, c, at->form, end);
    }
}

static const char *indexed_text(const struct dwarf_unit *u, uint64_t index)
{
    unsigned size = u->format.offset_size;
    struct elf_section *s = &u->file->sections[DWARF_STR_OFFSETS];
    const uint8_t *p;
    struct cursor c;

    if (index > s->size / size)
        return NULL;
    p = elf_section_at(
        s, u->share.str_offsets + u->str_offsets_base + index * size, size);
    c = cursor_of(p, p ? size : 0);
    return p ? elf_section_text(&u->file->sections[DWARF_STR],
                                dwarf_number(&c, size))
             : NULL;
}

const char *dwarf_text(const struct dwarf_unit *u, struct dwarf_value v)
{
    struct dwarf_file *f = u->file;

    switch (v.kind) {
    case VALUE_TEXT:
        return elf_section_text(&f->sections[DWARF_INFO], v.u);
    case VALUE_TEXT_STR:
        return elf_section_text(&f->sections[DWARF_STR], v.u);
    case VALUE_TEXT_LINE_STR:
        return elf_section_text(&f->sections[DWARF_LINE_STR], v.u);
    case VALUE_TEXT_INDEX:
        return indexed_text(u, v.u);
    case VALUE_TEXT_ALTERNATE:
        return f->alternate
                   ? elf_section_text(&f->alternate->sections[DWARF_STR], v.u)
                   : NULL;
    default:
        return NULL;
    }
}

bool dwarf_address(const struct dwarf_unit *u, struct dwarf_value v,
                   uint64_t *out)
{
    unsigned size = u->format.address_size;
    struct elf_section *s = &u->file->addresses->sections[DWARF_ADDR];
    const uint8_t *p;
    struct cursor c;

    if (v.kind == VALUE_ADDRESS) {
        *out = v.u;
        return true;
    }
    if (v.kind != VALUE_ADDRESS_INDEX || v.u > s->size / size)
        return false;
    p = elf_section_at(s, u->addr_base + v.u * size, size);
    c = cursor_of(p, p ? size : 0);
    if (!p)
        return false;
    *out = dwarf_number(&c, size);
    return true;
}
