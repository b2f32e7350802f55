/*
 * Ids in the manner of rs/xid: sortable by time, unique without asking
 * anybody.  The five bytes that xid derives from host name and process id
 * are random here: containers often share both.
 */
#include "store/id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hash.h"

static const char digits[] = "0123456789abcdefghijklmnopqrstuv";

static unsigned char process_part[5];
static atomic_uint counter;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void seed(void)
{
    unsigned char random[8];
    uint64_t word;
    unsigned start;

    if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
        word = hash_mix(hash_seed(&once) ^ (uint64_t)clock_realtime_ns());
        memcpy(random, &word, sizeof(random));
    }
    memcpy(process_part, random, sizeof(process_part));
    start = (unsigned)random[5] << 16 | (unsigned)random[6] << 8 | random[7];
    atomic_store(&counter, start);
}

struct store_id store_id_make(int64_t now_ns)
{
    uint32_t seconds = (uint32_t)(now_ns / 1000000000);
    struct store_id id;
    unsigned n;

    pthread_once(&once, seed);
    n = atomic_fetch_add(&counter, 1);
    for (int i = 0; i < 4; i++)
        id.bytes[i] = (unsigned char)(seconds >> (24 - 8 * i));
    memcpy(id.bytes + 4, process_part, sizeof(process_part));
    for (int i = 0; i < 3; i++)
        id.bytes[9 + i] = (unsigned char)(n >> (16 - 8 * i));
    return id;
}

void store_id_format(const struct store_id *id, char out[STORE_ID_TEXT + 1])
{
    unsigned bits = 0, held = 0;
    size_t n = 0;

    for (size_t i = 0; i < STORE_ID_BYTES; i++) {
        bits = bits << 8 | id->bytes[i];
        held += 8;
        while (held >= 5) {
            held -= 5;
            out[n++] = digits[bits >> held & 31];
        }
    }
    out[n++] = digits[bits << (5 - held) & 31];
    out[n] = '\0';
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'v' ? c - 'a' + 10 : -1;
}

bool store_id_parse(struct str text, struct store_id *out)
{
    struct store_id id;
    unsigned bits = 0, held = 0;
    size_t n = 0;

    if (text.n != STORE_ID_TEXT)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int v = digit_value(text.s[i]);

        if (v < 0)
            return false;
        bits = bits << 5 | (unsigned)v;
        held += 5;
        if (held >= 8) {
            held -= 8;
            id.bytes[n++] = (unsigned char)(bits >> held);
        }
    }
    if (bits & ((1u << held) - 1)) /* bits that no id has */
        return false;
    *out = id;
    return true;
}
