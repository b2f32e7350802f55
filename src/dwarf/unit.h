#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include "dwarf/abbrev.h"
#include "elf/cursor.h"

/*
 * Units of .debug_info, their entries, and the values of these.
 */
enum dwarf_value_kind {
    VALUE_NONE,
    VALUE_ADDRESS,
    VALUE_ADDRESS_INDEX, /* in .debug_addr */
    VALUE_NUMBER,
    VALUE_OFFSET,     /* in another section */
    VALUE_LIST_INDEX, /* of .debug_rnglists */
    VALUE_TEXT,       /* offset in .debug_info */
    VALUE_TEXT_STR,   /* offset in .debug_str */
    VALUE_TEXT_LINE_STR,
    VALUE_TEXT_INDEX, /* in .debug_str_offsets */
    VALUE_TEXT_ALTERNATE,
    VALUE_REFERENCE, /* offset in .debug_info */
    VALUE_REFERENCE_ALTERNATE,
    VALUE_OTHER
};

struct dwarf_value {
    uint64_t u;
    enum dwarf_value_kind kind;
};

/* The part of each section that belongs to a unit: all of it, except in a
 * package of split files (.dwp). */
struct dwarf_share {
    uint64_t abbrev, str_offsets, rnglists;
};

struct dwarf_unit {
    struct dwarf_file *file;
    uint64_t offset, end; /* in .debug_info, from the header on */
    uint64_t first_entry;
    uint64_t abbrev_offset;
    struct dwarf_format format;
    uint8_t type; /* DW_UT_… */
    bool has_root;
    struct dwarf_share share;
    uint64_t dwo_id;
    /* From its first entry: */
    struct dwarf_value low_pc, high_pc, ranges;
    struct dwarf_value comp_dir, dwo_name, line;
    uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
    uint64_t split_ranges_base; /* ranges_base of its split unit */
    uint64_t base;              /* address that its range lists start from */
};

struct dwarf_entry {
    uint64_t offset, next; /* next: behind its values */
    uint16_t tag;
    bool has_children;
    struct dwarf_value v[SLOTS];
};

/* Builds the list of the file's units; only their headers are read. */
bool dwarf_units_read(struct dwarf_file *f);

/* Reads the header at an offset of .debug_info. */
bool dwarf_unit_header(struct dwarf_file *f, uint64_t offset,
                       struct dwarf_unit *u);

/* Reads the first entry.  False: the unit is malformed. */
bool dwarf_unit_root(struct dwarf_abbrev_cache *cache, struct dwarf_unit *u);

/* The unit that holds an offset of .debug_info, or NULL. */
struct dwarf_unit *dwarf_unit_at(struct dwarf_file *f, uint64_t offset);

/*
 * Reads the entry at an offset of .debug_info; `abbrevs` is the unit's table.
 * False: malformed, or the end of a list of children (tag 0).
 */
bool dwarf_entry_read(const struct dwarf_unit *u,
                      const struct dwarf_abbrevs *abbrevs, uint64_t offset,
                      struct dwarf_entry *out);

/* The unit's table, or NULL. */
const struct dwarf_abbrevs *dwarf_unit_abbrevs(struct dwarf_abbrev_cache *cache,
                                               const struct dwarf_unit *u);

/* Reads the values that an abbreviation describes; `c` stands at the first and
 * ends at the offset `end` of .debug_info. */
void dwarf_values_read(const struct dwarf_unit *u,
                       const struct dwarf_abbrevs *t,
                       const struct dwarf_abbrev *a, struct cursor *c,
                       uint64_t end, struct dwarf_value v[SLOTS]);

/* One value; `c` ends at the offset `end` of .debug_info.  A form that is
 * not known turns the cursor bad. */
struct dwarf_value dwarf_value_read(const struct dwarf_unit *u,
                                    struct cursor *c, unsigned form,
                                    uint64_t end);

/* Steps over a value; false for a form that is not known. */
bool dwarf_form_skip(struct cursor *c, unsigned form,
                     struct dwarf_format format);

/* The same by an abbreviation, which knows most sizes; a form that is not
 * known turns the cursor bad. */
static inline void dwarf_attribute_skip(struct cursor *c,
                                        const struct dwarf_attribute *a,
                                        struct dwarf_format format)
{
    if (a->size != DWARF_VARIABLE_SIZE)
        cursor_skip(c, a->size);
    else
        c->bad |= !dwarf_form_skip(c, a->form, format);
}

/* NULL when there is none. */
const char *dwarf_text(const struct dwarf_unit *u, struct dwarf_value v);
bool dwarf_address(const struct dwarf_unit *u, struct dwarf_value v,
                   uint64_t *out);

/* A number of 1 to 8 bytes. */
uint64_t dwarf_number(struct cursor *c, unsigned size);

/*
 * Calls `visit` for every range of code; low < high.  Returns false if the
 * values have none.
 */
typedef void dwarf_range(void *arg, uint64_t low, uint64_t high);
bool dwarf_ranges(const struct dwarf_unit *u, const struct dwarf_value low,
                  const struct dwarf_value high,
                  const struct dwarf_value ranges, dwarf_range *visit,
                  void *arg);

#endif
