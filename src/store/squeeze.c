/*
 * zstd with its checksum on: SQLite does not notice when a disk changes
 * bytes, so every stored blob must.  Contexts are kept per thread; making
 * one costs more than compressing a block.
 */
#include "store/segment.h"

#include <pthread.h>
#include <zstd.h>

static pthread_key_t compressors, decompressors;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_compressor(void *c)
{
    ZSTD_freeCCtx(c);
}

static void free_decompressor(void *d)
{
    ZSTD_freeDCtx(d);
}

static void make_keys(void)
{
    pthread_key_create(&compressors, free_compressor);
    pthread_key_create(&decompressors, free_decompressor);
}

static ZSTD_CCtx *compressor(int level)
{
    ZSTD_CCtx *c;

    pthread_once(&once, make_keys);
    c = pthread_getspecific(compressors);
    if (!c) {
        c = ZSTD_createCCtx();
        if (!c || pthread_setspecific(compressors, c) != 0) {
            ZSTD_freeCCtx(c);
            return NULL;
        }
        ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    }
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    return c;
}

static ZSTD_DCtx *decompressor(void)
{
    ZSTD_DCtx *d;

    pthread_once(&once, make_keys);
    d = pthread_getspecific(decompressors);
    if (!d) {
        d = ZSTD_createDCtx();
        if (!d || pthread_setspecific(decompressors, d) != 0) {
            ZSTD_freeDCtx(d);
            return NULL;
        }
    }
    return d;
}

bool squeeze(struct str bytes, int level, struct buf *out)
{
    size_t bound = ZSTD_compressBound(bytes.n);
    ZSTD_CCtx *c = compressor(level);
    char *room = c ? buf_reserve(out, bound) : NULL;
    size_t n;

    if (!room)
        return false;
    n = ZSTD_compress2(c, room, bound, bytes.s, bytes.n);
    if (ZSTD_isError(n))
        return false;
    out->len += n;
    return true;
}

bool unsqueeze(struct str bytes, size_t limit, struct buf *out,
               struct error *err)
{
    unsigned long long n = ZSTD_getFrameContentSize(bytes.s, bytes.n);
    ZSTD_DCtx *d;
    char *room;
    size_t got;

    if (n == ZSTD_CONTENTSIZE_ERROR || n == ZSTD_CONTENTSIZE_UNKNOWN ||
        n > limit)
        return error_set(err, "stored data are damaged: bad frame");
    d = decompressor();
    room = d ? buf_reserve(out, n ? n : 1) : NULL;
    if (!room)
        return error_set(err, "out of memory");
    got = ZSTD_decompressDCtx(d, room, n, bytes.s, bytes.n);
    if (ZSTD_isError(got))
        return error_set(err, "stored data are damaged: %s",
                         ZSTD_getErrorName(got));
    out->len += got;
    return true;
}
