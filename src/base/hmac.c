/*
 * Two hashes around the text, as RFC 2104 describes it.  sha256() takes all of
 * its input at once, so the padded key and the text are put side by side.
 */
#include "base/hmac.h"

#include "base/buf.h"

#define BLOCK    64
#define TEXT_MAX ((size_t)1 << 20)

static void hash_behind_key(const unsigned char key[BLOCK], unsigned char flip,
                            struct str text, unsigned char out[SHA256_BYTES])
{
    struct buf all = BUF_INIT(TEXT_MAX);

    for (int i = 0; i < BLOCK; i++)
        buf_add_char(&all, (char)(key[i] ^ flip));
    buf_add(&all, text);
    sha256(buf_str(&all), out);
    buf_release(&all);
}

void hmac_sha256(struct str key, struct str text,
                 unsigned char out[SHA256_BYTES])
{
    unsigned char block[BLOCK] = {0}, inner[SHA256_BYTES];

    if (key.n > BLOCK)
        sha256(key, block);
    else if (key.n > 0)
        memcpy(block, key.s, key.n);
    hash_behind_key(block, 0x36, text, inner);
    hash_behind_key(block, 0x5c, str_of((const char *)inner, sizeof(inner)),
                    out);
}
