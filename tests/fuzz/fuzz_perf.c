/*
 * perf.data from untrusted sources.
 */
#include "legacy_target.h"
#include "perf/convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err;
    struct profile *p = perf_convert(str_of((const char *)data, size),
                                     &legacy_target_limits, &err);

    if (p)
        must_be_whole(p);
    profile_free(p);
    return 0;
}
