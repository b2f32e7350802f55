#ifndef ELF_CFI_H
#define ELF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/rule.h"
#include "elf/view.h"

/*
 * Reads .eh_frame: which rule holds from which address on.
 *
 *     struct cfi c;
 *     if (cfi_open(&c, &view))
 *         cfi_each_row(&c, row, ctx);      // all of it, for a table
 *     if (cfi_find(&c, vaddr, &rule)) …    // one address, in a handler
 *
 * A struct cfi owns nothing: the bytes must outlive it.
 */
struct cfi {
    const uint8_t *bytes; /* the segment that holds both sections … */
    size_t n;
    uint64_t vaddr;         /* … and where it begins */
    uint64_t hdr, eh_frame; /* vaddrs; hdr 0: none */
    const uint8_t *table;   /* pairs of (pc, FDE), relative to hdr, sorted */
    size_t n_table;         /* 0: there is none */
};

/* False: no .eh_frame_hdr (and the view does not know .eh_frame either), or it
 * does not say where .eh_frame is, or that is in another segment (no linker
 * does that). */
bool cfi_open(struct cfi *c, const struct elf_view *v);

/*
 * Functions come in the order of their addresses when the object has a search
 * table in .eh_frame_hdr (all linkers make one), else in file order.  The end
 * of a function is reported with a NULL rule.  A malformed record is skipped.
 * False if the callback returned false.
 */
bool cfi_each_row(const struct cfi *c, cfi_row_fn *row, void *ctx);

/* Padding between functions gets the rule of the previous function: that saves
 * two rows, and some return addresses are the first address of a function
 * (makecontext's). */
#define CFI_SMALL_GAP 16

/* The rule at an address, straight from the records: about a microsecond, no
 * memory.  False: nothing is known, or there is no search table.
 * Async-signal-safe. */
bool cfi_find(const struct cfi *c, uint64_t vaddr, struct unwind_rule *out);

/* The function at an address, by the search table: where it begins, and where
 * the next one does (UINT64_MAX: there is none).  False: there is none before
 * the address.  Async-signal-safe. */
bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start_out,
                  uint64_t *limit_out);

#endif
