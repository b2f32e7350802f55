/*
 * Replies of an S3 server: listings, and single elements by name.
 */
#include "store/archive/s3_xml.h"

static bool ignore(void *arg, struct str key, uint64_t size, struct error *err)
{
    (void)arg, (void)key, (void)size, (void)err;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str xml = str_of((const char *)data, size);
    struct buf next = BUF_INIT(S3_TEXT_MAX), text = BUF_INIT(S3_TEXT_MAX);
    struct error err;

    s3_xml_list(xml, ignore, NULL, &next, &err);
    s3_xml_find(xml, STR("UploadId"), &text);
    buf_release(&next);
    buf_release(&text);
    return 0;
}
