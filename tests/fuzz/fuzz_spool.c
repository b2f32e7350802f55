/*
 * A file of the archive's spool, as a crash or a bad disk may leave it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "store/archive/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char dir[] = "/tmp/fuzz-spool-XXXXXX";
    static bool has_dir;
    char path[64];
    struct spool *s;
    struct spool_item item;
    struct spool_stats stats;
    struct error err;
    bool is_last;

    if (!has_dir)
        has_dir = mkdtemp(dir) != NULL;
    snprintf(path, sizeof(path), "%s/00000000000000000007.spool", dir);
    if (!file_write(path, str_of((const char *)data, size), &err))
        abort();
    s = spool_open(dir, 1 << 30, &err);
    if (!s)
        abort();
    if (!spool_add(s, STR("the last"), STR(""), &err))
        abort();
    do {
        spool_take(s, &item);
        is_last = str_eq(item.key, STR("the last"));
        spool_finish(s, &item, true);
    } while (!is_last);
    spool_get_stats(s, &stats);
    if (stats.objects == 0 && stats.bytes != 0)
        abort();
    spool_free(s);
    unlink(path);
    rmdir(dir);
    has_dir = false;
    for (size_t i = 0; i < 6; i++)
        dir[sizeof(dir) - 2 - i] = 'X';
    return 0;
}
