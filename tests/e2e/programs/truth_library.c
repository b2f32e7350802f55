#include <stdint.h>

void truth_library_30(void (*burn)(int64_t), int64_t ns);

__attribute__((visibility("default"))) void
truth_library_30(void (*burn)(int64_t), int64_t ns)
{
    burn(ns);
    __asm__ volatile("");
}
