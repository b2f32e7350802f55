#ifndef DWARF_WALK_H
#define DWARF_WALK_H

#include "dwarf/unit.h"

/*
 * One walk through a unit's entries: each wanted address gets the innermost
 * function or inlined call whose code holds it.
 */
#define NO_SCOPE UINT32_MAX

/* A function or inlined call that holds an address. */
struct scope {
    uint64_t offset; /* of the entry in .debug_info */
    uint32_t parent; /* scope around it, NO_SCOPE for a function */
    bool has_call, has_name;
    uint64_t call_file, call_line, call_column;
    const char *name; /* once has_name */
    uint64_t decl_line;
};

struct wanted {
    uint64_t address;
    size_t index; /* the caller's */
    uint32_t innermost;
};

/* What the children of an entry under way are to do. */
struct level {
    uint32_t scope; /* around them */
    bool skipping;  /* their parent holds no wanted address */
    bool in_function;
};

struct walk {
    struct pages_vec wanted; /* of struct wanted, by address */
    struct pages_vec scopes; /* of struct scope */
    struct pages_vec levels; /* of struct level */
};

void walk_release(struct walk *w);

/* Sets `innermost` of the wanted addresses, and makes the scopes. */
void walk_unit(struct walk *w, struct dwarf_abbrev_cache *cache,
               const struct dwarf_unit *u);

#endif
