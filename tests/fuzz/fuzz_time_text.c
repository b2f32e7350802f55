/* Times and durations in every form, and labels. */
#include <stdlib.h>

#include "collector/intake/label_text.h"
#include "base/time_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    struct str text = str_of((const char *)data, size);
    struct labels labels;
    struct error err;
    int64_t ns;

    time_parse(text, 1700000000000000000, &ns, &err);
    time_parse_profefe(text, &ns, &err);
    if (duration_parse(text, &ns, &err) && ns < 0)
        abort();
    labels_parse(&labels, a, text, &err);
    arena_free(a);
    return 0;
}
