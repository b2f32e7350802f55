#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

/*
 * One step of a hash: both halves of a 128-bit product, folded.
 *
 * The lower half alone would be cheaper, but a change of an input's highest
 * bits changes it in a predictable way, whatever the lower bits are.  With two
 * words whose changes cancel out, anybody could build texts that collide under
 * every seed.
 */
static inline uint64_t hash_mix(uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)word * 0x9e3779b97f4a7c15u;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A number that nobody outside the process can predict, different for each
 * address. */
uint64_t hash_seed(const void *address);

#endif
