/* The memory map behind a profile with some addresses. */
#include "legacy_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str head = STR_INIT(
        "addresses profile: total 1\n"
        "1 @ 0x1 0x11 0x21 0x101 0x201 0x1001 0x400001 0x400101 0x401001 "
        "0x7f0000000001 0xffffffffffffffff 0x0 0x10 0x20 0x30 0x40 0x50\n"
        "--- Memory map: ---\n");
    struct buf text = BUF_INIT(BUF_NO_LIMIT);
    int result;

    buf_add(&text, head);
    buf_add_bytes(&text, data, size);
    result = legacy_target(legacy_parse_count, buf_str(&text));
    buf_release(&text);
    return result;
}
