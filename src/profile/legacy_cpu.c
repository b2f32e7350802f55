/*
 * gperftools' binary CPU profile: words of 32 or 64 bits in the order of the
 * machine that wrote them.
 *
 *     0, 3, 0 native or 1 Java, period in µs, 0
 *     count, depth, depth addresses        for each sample
 *     0, 1, 0                              the end; then text
 */
#include "base/i64.h"
#include "profile/legacy_common.h"
#include "profile/memory_map.h"

struct words {
    struct str rest;
    size_t size;
    bool big_endian;
    bool ended; /* a word was asked for that is not there */
};

/* The next word; 0 from the end of data on. */
static uint64_t next_word(struct words *w)
{
    uint64_t value = 0;

    if (w->rest.n < w->size) {
        w->ended = true;
        w->rest = str_skip(w->rest, w->rest.n);
        return 0;
    }
    for (size_t i = 0; i < w->size; i++) {
        size_t at = w->big_endian ? i : w->size - 1 - i;

        value = value << 8 | (unsigned char)w->rest.s[at];
    }
    w->rest = str_skip(w->rest, w->size);
    return value;
}

struct header {
    bool java;
    uint64_t period_us;
};

static bool read_header(struct words *w, struct header *h)
{
    uint64_t zero = next_word(w), version_words = next_word(w);
    uint64_t kind = next_word(w);
    uint64_t padding;

    h->period_us = next_word(w);
    padding = next_word(w);
    h->java = kind == 1;
    return !w->ended && zero == 0 && version_words == 3 && kind <= 1 &&
           h->period_us > 0 && padding == 0;
}

static bool find_words(struct words *w, struct str bytes, struct header *h)
{
    static const struct words forms[] = {
        {.size = 4},
        {.size = 4, .big_endian = true},
        {.size = 8},
        {.size = 8, .big_endian = true},
    };

    for (size_t i = 0; i < 4; i++) {
        *w = forms[i];
        w->rest = bytes;
        if (read_header(w, h))
            return true;
    }
    return false;
}

/* Returns true if this record is the end mark.  Otherwise nothing is
 * consumed. */
static bool take_end_mark(struct words *w, uint64_t count, uint64_t depth)
{
    struct words ahead = *w;

    if (count != 0 || depth != 1 || next_word(&ahead) != 0)
        return false;
    *w = ahead;
    return true;
}

static enum legacy_result read_samples(struct legacy *l, struct words *w,
                                       bool native)
{
    while (w->rest.n) {
        uint64_t count = next_word(w), depth = next_word(w);
        int64_t values[2] = {(int64_t)count,
                             i64_mul((int64_t)count, l->profile->period)};

        /* By 4 also for words of 8 bytes: of a record that is cut off the
         * missing addresses are 0. */
        if (w->ended || depth > w->rest.n / 4)
            return LEGACY_NOT_MINE;
        if (take_end_mark(w, count, depth))
            break;
        for (uint64_t i = 0; i < depth; i++)
            if (!legacy_frame(l, next_word(w) - (native && i > 0)))
                return LEGACY_FAILED;
        if (!legacy_end_sample(l, values))
            return LEGACY_FAILED;
    }
    return LEGACY_OK;
}

static bool has_address(const struct location *first,
                        const struct location *second, uint64_t address)
{
    (void)first;
    return second->address == address;
}

/* The address of sample i's second frame; false without one. */
static bool second_frame(const struct profile *p, size_t i, uint64_t *address)
{
    if (profile_depth(p, i) < 2)
        return false;
    *address = p->locations.v[p->stack[p->loc_start[i] + 1]].address;
    return true;
}

/*
 * An address that is the second frame of all samples but one in 32 at most
 * is the signal handler's own.  Such a majority is the winner of a vote in
 * which each sample cancels one of another opinion.
 */
static bool find_handler(const struct profile *p, uint64_t *handler)
{
    size_t votes = 0, count = 0;
    uint64_t address;

    for (size_t i = 0; i < p->n_samples; i++) {
        if (!second_frame(p, i, &address))
            continue;
        if (votes == 0)
            *handler = address;
        votes = *handler == address ? votes + 1 : votes - 1;
    }
    if (votes == 0)
        return false;
    for (size_t i = 0; i < p->n_samples; i++)
        count += second_frame(p, i, &address) && address == *handler;
    return count >= p->n_samples - p->n_samples / 32;
}

static void drop_signal_handlers(struct profile *p)
{
    uint64_t handler = 0;

    for (int round = 0; round < 2 && find_handler(p, &handler); round++)
        legacy_drop_second_frames(p, has_address, handler);
}

enum legacy_result legacy_parse_cpu(struct legacy *l, struct str bytes)
{
    struct line_scanner lines;
    enum legacy_result result;
    struct header header;
    struct words words;

    if (!find_words(&words, bytes, &header))
        return LEGACY_NOT_MINE;
    legacy_set_period(l, STR("cpu"), STR("nanoseconds"),
                      i64_mul((int64_t)header.period_us, 1000));
    legacy_add_type(l, STR("samples"), STR("count"));
    legacy_add_type(l, STR("cpu"), STR("nanoseconds"));
    result = read_samples(l, &words, !header.java);
    if (result != LEGACY_OK)
        return result;
    if (header.java)
        return legacy_java_locations(l, words.rest);

    drop_signal_handlers(l->profile);
    lines = line_scanner_of(words.rest);
    if (!memory_map_read(l, &lines))
        return LEGACY_FAILED;
    legacy_finish(l);
    legacy_drop_duplicate_leaves(l->profile);
    return LEGACY_OK;
}
