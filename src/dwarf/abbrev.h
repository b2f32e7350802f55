#ifndef DWARF_ABBREV_H
#define DWARF_ABBREV_H

#include "dwarf/dwarf_file.h"

/*
 * Abbreviations: what the entries of a unit look like.
 *
 * A cache holds the tables of the units last looked at; a pointer into it is
 * valid until the next dwarf_abbrevs_of().
 */

/* The attributes that are used here; others are skipped. */
enum dwarf_slot {
    SLOT_SIBLING,
    SLOT_NAME,
    SLOT_LINKAGE_NAME,
    SLOT_LOW_PC,
    SLOT_HIGH_PC,
    SLOT_RANGES,
    SLOT_ORIGIN,
    SLOT_SPECIFICATION,
    SLOT_DECL_LINE,
    SLOT_CALL_FILE,
    SLOT_CALL_LINE,
    SLOT_CALL_COLUMN,
    SLOT_COMP_DIR,
    SLOT_STMT_LIST,
    SLOT_STR_OFFSETS_BASE,
    SLOT_ADDR_BASE,
    SLOT_RNGLISTS_BASE,
    SLOT_GNU_RANGES_BASE,
    SLOT_DWO_NAME,
    SLOT_DWO_ID,
    SLOTS,
    SLOT_NONE = SLOTS
};

struct dwarf_attribute {
    uint16_t form;
    uint8_t slot;
    uint8_t size;     /* of a value, or DWARF_VARIABLE_SIZE */
    int64_t constant; /* DW_FORM_implicit_const */
};

struct dwarf_abbrev {
    uint64_t code;
    uint32_t first, n;   /* attributes */
    uint32_t fixed;      /* bytes of all values, or VARIABLE */
    uint32_t sibling_at; /* of these, if fixed and of four bytes */
    uint16_t tag;
    bool has_children, has_sibling, has_code;
};

#define DWARF_VARIABLE      UINT32_MAX
#define DWARF_VARIABLE_SIZE UINT8_MAX

/* What the sizes of values depend on. */
struct dwarf_format {
    uint8_t version, address_size, offset_size;
};

struct dwarf_abbrevs {
    const struct dwarf_file *file;
    uint64_t offset;
    struct dwarf_format format;
    uint64_t used;               /* when, for replacing the oldest */
    struct pages_vec list;       /* of struct dwarf_abbrev, by code */
    struct pages_vec attributes; /* of struct dwarf_attribute */
};

#define DWARF_ABBREV_TABLES 8

struct dwarf_abbrev_cache {
    struct dwarf_abbrevs tables[DWARF_ABBREV_TABLES];
    uint64_t clock;
};

void dwarf_abbrev_cache_init(struct dwarf_abbrev_cache *cache);
void dwarf_abbrev_cache_release(struct dwarf_abbrev_cache *cache);

/* The table of a unit, or NULL when it cannot be read. */
const struct dwarf_abbrevs *dwarf_abbrevs_of(struct dwarf_abbrev_cache *cache,
                                             struct dwarf_file *file,
                                             uint64_t offset,
                                             struct dwarf_format format);

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *t,
                                             uint64_t code);

/* Forgets the tables of a file that is about to be released. */
void dwarf_abbrev_cache_forget(struct dwarf_abbrev_cache *cache,
                               const struct dwarf_file *file);

/* The bytes of a value, or DWARF_VARIABLE. */
uint32_t dwarf_form_size(unsigned form, struct dwarf_format format);

static inline const struct dwarf_attribute *
dwarf_attributes(const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a)
{
    return a->n ? (const struct dwarf_attribute *)t->attributes.p + a->first
                : NULL;
}

#endif
