/*
 * Perf maps from untrusted sources: anybody may write to /tmp.
 */
#include <stdlib.h>

#include "elf/jit_map.h"
#include "elf/jit_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jit_map m;
    struct jit_code code;

    jit_map_init(&m);
    jit_map_add_text(&m, str_of((const char *)data, size));
    if (!jit_map_finish(&m))
        abort();
    for (uint64_t a = 0; a < 0x10000; a += 0x101) {
        struct jit_name name;

        if (!jit_map_find(&m, a, &code))
            continue;
        name = jit_name_parse(code.name);
        if (a < code.start || a >= code.limit || name.function.n == 0 ||
            name.line < 0 || name.function.n > code.name.n)
            abort();
    }
    jit_map_release(&m);
    return 0;
}
