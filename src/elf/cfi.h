#ifndef ELF_CFI_H
#define ELF_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/rule.h"
#include "elf/view.h"

/*
 * Reads .eh_frame: which rule holds from which address on.
 *
 * Functions come in the order of their addresses when the object has a
 * search table in .eh_frame_hdr (all linkers make one), else in file order.
 * The end of a function is reported with a NULL rule.  A record that is not
 * sound is skipped.
 */
typedef bool cfi_row_fn(void *ctx, uint64_t vaddr,
                        const struct unwind_rule *rule);

/* False when there is no .eh_frame or the callback said false. */
bool cfi_each_row(const struct elf_view *v, cfi_row_fn *row, void *ctx);

/* Where .eh_frame_hdr says that .eh_frame starts; 0 when it does not say. */
uint64_t cfi_eh_frame(const struct elf_view *v);

#endif
