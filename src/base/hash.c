#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hash_seed(const void *address)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t word = 0;

    if (random) /* 16 bytes that the kernel gives every process */
        memcpy(&word, random, sizeof(word));
    return hash_mix(hash_mix(word ^ 1) ^ (uintptr_t)address);
}
