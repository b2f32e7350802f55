/* kubectl's words, and presets. */
#include <stdlib.h>
#include <string.h>

#include "kube/kubectl_failure.h"
#include "kube/preset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_of((const char *)data, size);
    struct arena *a = arena_new();
    struct kubectl_failure why;
    struct preset preset;
    struct error err;

    kubectl_failure_read(text, &why);
    if (strlen(why.words) >= sizeof(why.words) || why.words[0] == '\0')
        abort();
    if (preset_parse(a, "fuzz", text, &preset, &err) && preset.about.n == 0)
        abort();
    arena_free(a);
    return 0;
}
