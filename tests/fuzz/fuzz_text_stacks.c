/*
 * Folded stacks and what perf script prints, or almost.
 */
#include "legacy_target.h"
#include "profile/text_stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_of((const char *)data, size);
    struct error err;
    struct profile *p = NULL;

    if (text_stacks_detect(text))
        p = text_stacks_parse(text, &legacy_target_limits, &err);
    if (p)
        must_be_whole(p);
    profile_free(p);
    return 0;
}
