/*
 * A record is a magic number, the length of the key (4 bytes), the length of
 * the bytes (8) and a checksum (8) of both, all little endian, then the key
 * and the bytes.
 */
#include <string.h>

#include "base/hash.h"
#include "store/archive/spool.h"

#define MAGIC 0x31415050u /* "PPA1" */

static void put(unsigned char *out, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *in, int n)
{
    uint64_t value = 0;

    for (int i = 0; i < n; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

static uint64_t add_hash(uint64_t hash, struct str text)
{
    uint64_t word;

    for (; text.n >= sizeof(word); text = str_skip(text, sizeof(word))) {
        memcpy(&word, text.s, sizeof(word));
        hash = hash_mix(hash ^ word) + 1;
    }
    word = text.n;
    if (text.n)
        memcpy((char *)&word + 1, text.s, text.n);
    return hash_mix(hash ^ word) + 1;
}

static uint64_t checksum(struct str key, struct str bytes)
{
    return add_hash(add_hash(MAGIC, key), bytes);
}

void spool_header_write(unsigned char out[SPOOL_HEADER], struct str key,
                        struct str bytes)
{
    put(out, MAGIC, 4);
    put(out + 4, key.n, 4);
    put(out + 8, bytes.n, 8);
    put(out + 16, checksum(key, bytes), 8);
}

bool spool_header_read(const unsigned char in[SPOOL_HEADER], uint64_t *key_n,
                       uint64_t *bytes_n)
{
    *key_n = get(in + 4, 4);
    *bytes_n = get(in + 8, 8);
    return get(in, 4) == MAGIC && *key_n <= SPOOL_KEY_MAX &&
           *bytes_n <= SPOOL_BYTES_MAX;
}

bool spool_header_fits(const unsigned char in[SPOOL_HEADER], struct str key,
                       struct str bytes)
{
    return get(in + 16, 8) == checksum(key, bytes);
}
