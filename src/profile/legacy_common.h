#ifndef PROFILE_LEGACY_COMMON_H
#define PROFILE_LEGACY_COMMON_H

#include "profile/limits.h"
#include "profile/profile.h"
#include "profile/text_scan.h"

/*
 * What the parsers of the legacy formats share: building a profile of bare
 * addresses.  Private to src/profile/legacy*.c and memory_map.c.
 *
 * A parser gets a fresh `struct legacy` with an empty profile, and says whether
 * the bytes are its own.  After LEGACY_NOT_MINE or LEGACY_FAILED the profile is
 * discarded, so it may be left incomplete.
 */
enum legacy_result {
    LEGACY_OK,
    LEGACY_NOT_MINE, /* let the next parser try */
    LEGACY_FAILED,   /* see err; no other parser is tried */
};

struct legacy {
    struct profile *profile;
    struct arena *scratch; /* lives as long as this struct */
    const struct profile_limits *limits;
    struct error *err;
    struct sample_builder samples;
    size_t open_frames; /* of the sample being built */
    size_t string_bytes;

    /* Location i was made for addresses.v[i]; the location's own address may
     * have been cleared since. */
    VEC(uint64_t) addresses;
    struct map address_index;
};

void legacy_init(struct legacy *l, const struct profile_limits *limits,
                 struct error *err);
void legacy_release(struct legacy *l); /* all but the profile */

/* The functions below that return bool have set the error when false. */

bool legacy_intern(struct legacy *l, struct str s, string_id *out);

void legacy_add_type(struct legacy *l, struct str type, struct str unit);
void legacy_set_period(struct legacy *l, struct str type, struct str unit,
                       int64_t period);

/* The location of an address, or NO_INDEX. */
uint32_t legacy_find_location(const struct legacy *l, uint64_t address);

/* Samples: frames leaf first, then the end with a value for each type. */
bool legacy_frame(struct legacy *l, uint64_t address);
void legacy_drop_open_frames(struct legacy *l);
bool legacy_end_sample(struct legacy *l, const int64_t *values);

/* Numeric label "bytes", without a unit, on the open sample. */
void legacy_label_bytes(struct legacy *l, int64_t bytes);

/*
 * Frames for all addresses in `text`.  Return addresses point behind the
 * call, so RETURN_ADDRESSES makes them one less; LEAF_FIRST leaves that of
 * the sample's first frame, which was interrupted and has called nothing.
 * `line` is for the error.
 */
enum legacy_frames { PLAIN_ADDRESSES, RETURN_ADDRESSES, LEAF_FIRST };

bool legacy_frames(struct legacy *l, struct str text, enum legacy_frames kind,
                   struct str line);

/* A whole signed number (base 0: 0x, 0o, 0b, 0, _), wrapped for the error in
 * Go's words: "<what> <line>: strconv.ParseInt: …". */
bool legacy_number(struct legacy *l, struct str digits, int base,
                   const char *what, struct str line, int64_t *out);

/* Removes the second frame of the samples for which `unwanted` returns true. */
void legacy_drop_second_frames(struct profile *p,
                               bool (*unwanted)(const struct location *first,
                                                const struct location *second,
                                                uint64_t arg),
                               uint64_t arg);

/* A leaf that was recorded twice: by the signal's context and as a return
 * address. */
void legacy_drop_duplicate_leaves(struct profile *p);

/*
 * Numbers locations, functions and mappings from 1 in order of use (those
 * that no sample uses vanish), and gives each location its mapping.
 */
void legacy_finish(struct legacy *l);

/* The parsers. */
enum legacy_result legacy_parse_cpu(struct legacy *l, struct str bytes);
enum legacy_result legacy_parse_heap(struct legacy *l, struct str bytes);
enum legacy_result legacy_parse_count(struct legacy *l, struct str bytes);
enum legacy_result legacy_parse_thread(struct legacy *l, struct str bytes);
enum legacy_result legacy_parse_contention(struct legacy *l, struct str bytes);
enum legacy_result legacy_parse_java(struct legacy *l, struct str bytes);

/* Java's list of the names of addresses: the end of a text profile, and of a
 * CPU profile whose samples are read. */
enum legacy_result legacy_java_locations(struct legacy *l, struct str text);

#endif
