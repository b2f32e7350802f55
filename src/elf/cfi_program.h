#ifndef ELF_CFI_PROGRAM_H
#define ELF_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/cursor.h"
#include "elf/rule.h"

/*
 * Runs call frame instructions.  Private to the readers of src/elf.
 */
enum place_kind {
    PLACE_SAME, /* the register is as in the callee */
    PLACE_UNDEFINED,
    PLACE_CFA,  /* saved at CFA + off */
    PLACE_FP,   /* saved at fp + off */
    PLACE_REG,  /* in register `off` */
    PLACE_OTHER /* in a place that our walker does not support */
};

struct place {
    int32_t off;
    uint8_t kind; /* enum place_kind */
};

struct cfi_state {
    int64_t cfa_off;
    int32_t cfa_add;
    uint8_t cfa; /* enum rule_kind; RULE_NONE: an expression we do not know */
    uint8_t cfa_reg;
    struct place fp, ra, bx;
};

struct cfi_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_reg;
    uint8_t pointer_encoding;
    bool has_augmentation, is_signal;
    struct cursor program;    /* the CIE's own instructions */
    struct cfi_state initial; /* what they leave; by cfi_cie_init */
};

/* False if the initial instructions are malformed. */
bool cfi_cie_init(struct cfi_cie *cie);

/* Runs an FDE's instructions for [start, limit) and reports each row.  False
 * only if the callback returned false; malformed instructions end the run. */
bool cfi_run(const struct cfi_cie *cie, struct cursor program, uint64_t start,
             uint64_t limit, cfi_row_fn *row, void *ctx);

#endif
