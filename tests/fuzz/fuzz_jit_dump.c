/*
 * Dumps of generated code from untrusted sources.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/jit_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_source file = {data, size, -1};
    uint32_t pid = 7;
    struct jit_map m;
    struct jit_code code;

    jit_map_init(&m);
    jit_map_add_dump(&m, &file, pid);
    if (!jit_map_finish(&m))
        abort();
    for (uint64_t a = 0; a < 0x10000; a += 0x101)
        if (jit_map_find(&m, a, &code) &&
            (a < code.start || a >= code.limit || code.name.n == 0))
            abort();
    jit_map_release(&m);
    return 0;
}
