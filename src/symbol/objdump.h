#ifndef SYMBOL_OBJDUMP_H
#define SYMBOL_OBJDUMP_H

#include "base/error.h"
#include "symbol/instruction.h"

/*
 * Disassembly by running objdump.  `objdump` is its file name or path;
 * whether it is LLVM's decides about flags.
 */
bool objdump_run(const char *objdump, bool is_llvm, const char *file,
                 struct arena *a, uint64_t start, uint64_t end,
                 bool intel_syntax, struct instructions *out,
                 struct error *err);

/* Reads what it printed. */
void objdump_parse(struct arena *a, struct str text, struct instructions *out);

/*
 * Finds the tool: llvm-objdump first, then GNU's, in the directories of the
 * -tools flag or on the PATH.  NULL if there is none.
 */
const char *objdump_find(struct arena *a, struct str tools, bool *is_llvm);

#endif
