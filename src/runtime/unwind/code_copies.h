#ifndef RUNTIME_UNWIND_CODE_COPIES_H
#define RUNTIME_UNWIND_CODE_COPIES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Code of a module that the program has mapped from its file once more, at
 * another address: V8 does that to have its built-in functions near the code
 * that it generates.  The loader knows nothing of it.
 *
 * Copies are remembered when they are gone, so that samples taken in them
 * still get names.  Hold runtime.lock.
 */
struct maps;
struct modules;

#define CODE_COPIES_MAX 16

struct code_copies {
    struct code_copy {
        uint64_t start, limit;
        uint64_t shift; /* to add to get the module's own address */
    } v[CODE_COPIES_MAX];
    size_t n;
};

/* Looks for copies of these modules in /proc/self/maps. */
void code_copies_look(struct code_copies *c, const struct modules *m);

/* The same for whoever has read that file already. */
void code_copies_take(struct code_copies *c, const struct modules *m,
                      const struct maps *maps);

/* Where the loader has put the code at an address: the same address, unless
 * it is in a copy. */
uint64_t code_copies_origin(const struct code_copies *c, uint64_t address);

#endif
