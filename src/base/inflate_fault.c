#include "base/inflate_fault.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    MAX_CODE_BITS = 15,
    LITERALS = 286, /* literals, end of block, lengths */
    DISTANCES = 30,
    LENGTH_CODES = 19,
    END_OF_BLOCK = 256,
    WINDOW = 32768,
};

enum outcome {
    GOES_ON,
    ENDS, /* the stream is fine */
    CUT_OFF,
    CORRUPT,
};

/* Every 15 bits that could come, least significant first, to the symbol they
 * begin with and its length; 0 where no symbol has such bits. */
struct code {
    unsigned min_bits; /* that are taken before looking */
    struct {
        uint16_t symbol;
        uint16_t bits;
    } at[1 << MAX_CODE_BITS];
};

struct walk {
    struct str rest;
    size_t taken; /* bytes */
    uint32_t bits;
    unsigned n_bits;
    size_t made; /* bytes that would be inflated; only small numbers matter */
    struct code literals, distances;
};

static bool take_byte(struct walk *w)
{
    if (w->rest.n == 0)
        return false;
    w->bits |= (uint32_t)(unsigned char)w->rest.s[0] << w->n_bits;
    w->n_bits += 8;
    w->rest = str_skip(w->rest, 1);
    w->taken++;
    return true;
}

static bool take_bits(struct walk *w, unsigned n, unsigned *out)
{
    while (w->n_bits < n)
        if (!take_byte(w))
            return false;
    *out = w->bits & ((1u << n) - 1);
    w->bits >>= n;
    w->n_bits -= n;
    return true;
}

static unsigned reversed(unsigned code, unsigned bits)
{
    unsigned r = 0;

    for (; bits; bits--, code >>= 1)
        r = r << 1 | (code & 1);
    return r;
}

/* A code must be complete, or a single symbol of one bit, or empty. */
static bool make_code(struct code *c, const unsigned char *lengths, size_t n)
{
    unsigned count[MAX_CODE_BITS + 1] = {0}, next[MAX_CODE_BITS + 1];
    unsigned code = 0, max = 0;

    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < n; i++)
        count[lengths[i]]++;
    count[0] = 0;
    for (unsigned bits = 1; bits <= MAX_CODE_BITS; bits++) {
        code <<= 1;
        next[bits] = code;
        code += count[bits];
        if (!count[bits])
            continue;
        if (!c->min_bits)
            c->min_bits = bits;
        max = bits;
    }
    if (max == 0)
        return true;
    if (code != 1u << MAX_CODE_BITS && !(max == 1 && count[1] == 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned bits = lengths[i];

        if (bits == 0)
            continue;
        for (unsigned k = reversed(next[bits]++, bits); k < 1 << MAX_CODE_BITS;
             k += 1u << bits) {
            c->at[k].symbol = (uint16_t)i;
            c->at[k].bits = (uint16_t)bits;
        }
    }
    return true;
}

static enum outcome take_symbol(struct walk *w, const struct code *c,
                                unsigned *out)
{
    unsigned want = c->min_bits;

    for (;;) {
        unsigned k;

        while (w->n_bits < want)
            if (!take_byte(w))
                return CUT_OFF;
        k = w->bits & ((1 << MAX_CODE_BITS) - 1);
        want = c->at[k].bits;
        if (want == 0)
            return CORRUPT;
        if (want <= w->n_bits) {
            *out = c->at[k].symbol;
            w->bits >>= want;
            w->n_bits -= want;
            return GOES_ON;
        }
    }
}

static enum outcome stored_block(struct walk *w)
{
    const unsigned char *head = (const unsigned char *)w->rest.s;
    size_t n, complement;

    w->bits = w->n_bits = 0;
    if (w->rest.n < 4)
        return CUT_OFF;
    n = head[0] | (size_t)head[1] << 8;
    complement = head[2] | (size_t)head[3] << 8;
    w->taken += 4;
    w->rest = str_skip(w->rest, 4);
    if (complement != (n ^ 0xffff))
        return CORRUPT;
    if (w->rest.n < n)
        return CUT_OFF;
    w->taken += n;
    w->rest = str_skip(w->rest, n);
    w->made += n;
    return GOES_ON;
}

static void fixed_codes(struct walk *w)
{
    unsigned char lengths[288];

    for (unsigned i = 0; i < sizeof(lengths); i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&w->literals, lengths, sizeof(lengths));
    memset(lengths, 5, 32);
    make_code(&w->distances, lengths, 32);
}

/* The lengths of both codes, themselves coded with w->literals. */
static enum outcome code_lengths(struct walk *w, unsigned char *lengths,
                                 size_t n)
{
    static const unsigned char least[] = {3, 3, 11}, extra[] = {2, 3, 7};

    for (size_t i = 0; i < n;) {
        unsigned symbol, more;
        enum outcome o = take_symbol(w, &w->literals, &symbol);

        if (o != GOES_ON)
            return o;
        if (symbol < 16) {
            lengths[i++] = (unsigned char)symbol;
            continue;
        }
        if (symbol == 16 && i == 0)
            return CORRUPT;
        if (!take_bits(w, extra[symbol - 16], &more))
            return CUT_OFF;
        more += least[symbol - 16];
        if (i + more > n)
            return CORRUPT;
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, more);
        i += more;
    }
    return GOES_ON;
}

static enum outcome dynamic_codes(struct walk *w)
{
    static const unsigned char order[LENGTH_CODES] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[LITERALS + DISTANCES] = {0};
    unsigned sizes, literals, distances, bits;
    enum outcome o;

    if (!take_bits(w, 14, &sizes))
        return CUT_OFF;
    literals = (sizes & 31) + 257;
    distances = (sizes >> 5 & 31) + 1;
    if (literals > LITERALS || distances > DISTANCES)
        return CORRUPT;
    for (unsigned i = 0; i < (sizes >> 10) + 4; i++) {
        if (!take_bits(w, 3, &bits))
            return CUT_OFF;
        lengths[order[i]] = (unsigned char)bits;
    }
    if (!make_code(&w->literals, lengths, LENGTH_CODES))
        return CORRUPT;
    o = code_lengths(w, lengths, literals + distances);
    if (o != GOES_ON)
        return o;
    if (!make_code(&w->literals, lengths, literals) ||
        !make_code(&w->distances, lengths + literals, distances))
        return CORRUPT;
    /* Every block has an end, so that many bits there must be. */
    if (w->literals.min_bits < lengths[END_OF_BLOCK])
        w->literals.min_bits = lengths[END_OF_BLOCK];
    return GOES_ON;
}

/* The rest of a copy, its length symbol taken. */
static enum outcome copy(struct walk *w, unsigned symbol)
{
    unsigned length = symbol - 257 + 3, distance, extra, bits;
    enum outcome o;

    if (symbol >= LITERALS)
        return CORRUPT;
    if (symbol == 285) {
        length = 258;
    } else if (symbol >= 265) {
        bits = (symbol - 261) / 4;
        if (!take_bits(w, bits, &extra))
            return CUT_OFF;
        length = 3 + ((4 + (symbol - 265) % 4) << bits) + extra;
    }
    o = take_symbol(w, &w->distances, &distance);
    if (o != GOES_ON)
        return o;
    if (distance >= DISTANCES)
        return CORRUPT;
    if (distance >= 4) {
        bits = (distance - 2) / 2;
        if (!take_bits(w, bits, &extra))
            return CUT_OFF;
        distance = ((2 + distance % 2) << bits) + extra;
    }
    if (distance + 1 > WINDOW || distance + 1 > w->made)
        return CORRUPT;
    w->made += length;
    return GOES_ON;
}

static enum outcome coded_block(struct walk *w)
{
    for (;;) {
        unsigned symbol;
        enum outcome o = take_symbol(w, &w->literals, &symbol);

        if (o == GOES_ON && symbol == END_OF_BLOCK)
            return GOES_ON;
        if (o == GOES_ON && symbol > END_OF_BLOCK)
            o = copy(w, symbol);
        else
            w->made++;
        if (o != GOES_ON)
            return o;
    }
}

static enum outcome block(struct walk *w)
{
    unsigned head;
    enum outcome o = GOES_ON;

    if (!take_bits(w, 3, &head))
        return CUT_OFF;
    switch (head >> 1) {
    case 0:
        o = stored_block(w);
        break;
    case 1:
        fixed_codes(w);
        o = coded_block(w);
        break;
    case 2:
        o = dynamic_codes(w);
        if (o == GOES_ON)
            o = coded_block(w);
        break;
    default:
        o = CORRUPT;
    }
    return o == GOES_ON && (head & 1) ? ENDS : o;
}

bool inflate_is_sound(struct str stream, struct error *err)
{
    struct walk *w = calloc(1, sizeof(*w));
    enum outcome o = GOES_ON;
    size_t taken;

    if (!w)
        return error_set(err, "out of memory for gunzip");
    w->rest = stream;
    while (o == GOES_ON)
        o = block(w);
    taken = w->taken;
    free(w);
    if (o == CUT_OFF)
        return error_set(err, "unexpected EOF");
    if (o == CORRUPT)
        return error_set(err, "flate: corrupt input before offset %zu", taken);
    return true;
}
