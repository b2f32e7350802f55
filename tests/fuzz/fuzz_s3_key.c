/*
 * Keys of objects, as a listing has them: anything may be in a bucket.
 */
#include "store/archive/object_key.h"
#include "store/archive/profefe_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    struct store_put put;
    struct store_id id;

    object_key_parse(a, str_of((const char *)data, size), &put, &id);
    profefe_key_parse(a, str_of((const char *)data, size), &put, &id);
    arena_free(a);
    return 0;
}
