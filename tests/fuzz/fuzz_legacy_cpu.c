#include "legacy_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return legacy_target(legacy_parse_cpu, str_of((const char *)data, size));
}
