#ifndef RUNTIME_UNWIND_PROLOGUE_H
#define RUNTIME_UNWIND_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the frame pointer of a function from its stack pointer, by reading
 * the instructions at its beginning.
 *
 * The registers of a thread that waits in a system call are not known but for
 * pc and sp.  In code that is built with frame pointers the unwind data says
 * where the caller is relative to rbp.  Between `mov %rsp, %rbp` and the body
 * such a function only pushes registers and subtracts a number from rsp, so
 * rbp is as far above rsp as these instructions say.
 *
 * It gives up where that is not certain: at instructions that it does not
 * know, in functions that align or move rsp by a variable (alloca), and in
 * code without unwind data.  A function may still have pushed arguments for a
 * call; so the caller must check that what it finds with the result makes
 * sense (prologue_is_return()), and that the walk reaches the thread's start.
 *
 * x86-64 only; elsewhere nothing is ever found.
 */

/* For the instructions of one function, from the address on where its rule
 * becomes CFA = rbp + 16 to its end: how far rbp is above rsp at the offset
 * `pc` into them. */
bool prologue_read(const uint8_t *code, size_t n, size_t pc, uint64_t *out);

/* The same for a function of a loaded module.  Takes the loader's lock; what
 * was found for an address is kept in the cache. */
#define PROLOGUE_CACHE 256
struct prologue_cache {
    struct {
        uint64_t pc;
        int64_t above; /* -1: could not be told */
    } v[PROLOGUE_CACHE];
};
bool prologue_find(struct prologue_cache *cache, uint64_t pc, uint64_t *out);

/* Returns true if there is a call before this address, so that it may be a
 * return address. */
bool prologue_is_return(uint64_t address);

#endif
