/*
 * A deflate reader that writes nothing.  It only follows the codes, because
 * all that is asked is whether, and after how many bytes, a reader like Go's
 * would give up.
 */
#include "base/inflate_fault.h"

#include <stdint.h>

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

/* A canonical code: symbols in the order of their codes, which are ordered by
 * length. */
struct code {
    unsigned min_bits; /* that are taken before looking */
    unsigned max_bits;
    uint16_t count[MAX_CODE_BITS + 1]; /* symbols of each length */
    uint16_t symbols[LITERALS + 2];
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

/* A code must be complete, or a single symbol of one bit, or empty. */
static bool make_code(struct code *c, const unsigned char *lengths, size_t n)
{
    unsigned next[MAX_CODE_BITS + 1], used = 0, place = 0;

    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < n; i++)
        c->count[lengths[i]]++;
    c->count[0] = 0;
    for (unsigned bits = 1; bits <= MAX_CODE_BITS; bits++) {
        used = 2 * used + c->count[bits];
        next[bits] = place;
        place += c->count[bits];
        if (!c->count[bits])
            continue;
        if (!c->min_bits)
            c->min_bits = bits;
        c->max_bits = bits;
    }
    for (size_t i = 0; i < n; i++)
        if (lengths[i])
            c->symbols[next[lengths[i]]++] = (uint16_t)i;
    return place == 0 || used == 1u << MAX_CODE_BITS ||
           (place == 1 && c->max_bits == 1);
}

static enum outcome take_symbol(struct walk *w, const struct code *c,
                                unsigned *out)
{
    unsigned code = 0, first = 0, place = 0;

    while (w->n_bits < c->min_bits)
        if (!take_byte(w))
            return CUT_OFF;
    for (unsigned bits = 1; bits <= c->max_bits; bits++) {
        if (w->n_bits < bits && !take_byte(w))
            return CUT_OFF;
        code = code << 1 | (w->bits >> (bits - 1) & 1);
        first <<= 1;
        if (code - first < c->count[bits]) {
            *out = c->symbols[place + code - first];
            w->bits >>= bits;
            w->n_bits -= bits;
            return GOES_ON;
        }
        first += c->count[bits];
        place += c->count[bits];
    }
    return CORRUPT;
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
    struct walk w = {.rest = stream};
    enum outcome o;

    do
        o = block(&w);
    while (o == GOES_ON);
    if (o == CUT_OFF)
        return error_set(err, "unexpected EOF");
    if (o == CORRUPT)
        return error_set(err, "flate: corrupt input before offset %zu",
                         w.taken);
    return true;
}
