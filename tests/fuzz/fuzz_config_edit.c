/*
 * Bytes as the note of a change, which comes from the cluster: taking it back
 * ends, and leaves a patch or words.
 */
#include <stdint.h>
#include <stdlib.h>

#include "config/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out = BUF_INIT((size_t)8 << 20);
    struct error err = {""};
    struct edit *e = edit_new(
        STR("{\"a\": {\"b\": \"1\", \"\": {}}, \"c\": [{\"name\": \"x\", "
            "\"d\": []}, \"y\"]}"),
        &err);

    if (!e)
        abort();
    edit_undo(e, str_of((const char *)data, size), &out);
    if (!edit_patch(e, &out, &err) && !err.text[0])
        abort();
    edit_show(e, &out);
    edit_free(e);
    buf_release(&out);
    return 0;
}
