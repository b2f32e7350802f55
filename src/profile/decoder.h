#ifndef PROFILE_DECODER_H
#define PROFILE_DECODER_H

#include "profile/decode_verdict.h"
#include "profile/idindex.h"
#include "profile/limits.h"
#include "profile/profile.h"
#include "profile/proto.h"
#include "profile/wire_read.h"

/*
 * Shared by the files of the decoder; private to them.
 *
 * decode.c scans the top level once, which finds how many of everything there
 * are and where.  decode_tables.c then fills strings, mappings, functions and
 * locations, each after those that it refers to, and decode_samples.c the
 * samples.
 */
struct extent { /* of all fields with one number */
    const unsigned char *first, *end;
    size_t n;
    size_t bytes; /* of their contents */
};

enum { PROTO_FIELDS = PROTO_DOC_URL + 1 };

/* The first rule of check.h that samples break, to be reported if nothing
 * worse is found. */
struct sample_fault {
    enum {
        FAULT_NONE,
        FAULT_VALUES,
        FAULT_LOCATION,
    } kind;
    size_t values; /* that the sample has */
};

struct decoder {
    struct wire_reader in;
    const struct profile_limits *limits;
    struct profile *p;
    struct arena *scratch;
    struct extent fields[PROTO_FIELDS];
    size_t records; /* as limits count them */

    string_id *texts; /* string table index to id */
    size_t n_texts;
    struct id_index mappings, functions, locations;

    /* The one-time fields, texts still as table indices. */
    int64_t once[PROTO_FIELDS];
    int64_t period_type[3];
    VEC(int64_t) comments;

    bool consume; /* bytes that have been read may be freed */
    bool discarded;
    const unsigned char *consumed; /* up to here */

    bool suspect; /* some id or line breaks the rules of check.h */
    struct sample_fault fault;
    enum decode_verdict verdict;
    struct error *err;
};

/* "byte N: words" as the error.  Returns false. */
bool decode_fail(struct decoder *d, const unsigned char *at, const char *fmt,
                 ...) __attribute__((format(printf, 3, 4)));

/* The same with the verdict "refused", without a place. */
bool decode_refuse(struct decoder *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The id of the text at a table index; false when the index is not there. */
bool decode_text(struct decoder *d, const unsigned char *at, int64_t index,
                 string_id *out);

/*
 * A message of nothing but scalars: v[1..n] are its fields 1..n, the last
 * one given counts; others are skipped.  v[0..n] is zero before; v[0] is of no
 * use afterwards.
 */
bool decode_scalars(struct decoder *d, struct wire_reader *r, const char *what,
                    uint64_t *v, size_t n);

/* Calls fill for each message of one field of the profile, in order. */
bool decode_each(struct decoder *d, unsigned number,
                 bool (*fill)(struct decoder *d, struct wire_reader *message));

/* Counts n records more; false when they are too many. */
bool decode_count(struct decoder *d, size_t n);

bool decode_tables(struct decoder *d);
bool decode_samples(struct decoder *d);

#endif
