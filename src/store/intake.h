#ifndef STORE_INTAKE_H
#define STORE_INTAKE_H

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * A profile on its way into the store: profile.proto read in one pass into
 * arrays that are reused for the next profile, so that a typical profile causes
 * no allocation, no page fault and no copy of its texts.
 *
 * Indices are those of the arrays here; texts are indices into `strings`,
 * whose views point into the bytes that were read.  A sample's labels are in
 * the order of the model.
 */
struct in_type {
    uint32_t type, unit;
};

struct in_mapping {
    uint64_t id, start, limit, offset;
    uint32_t file, build_id;
    uint32_t flags; /* has_functions 1, filenames 2, lines 4, inlined 8 */
};

struct in_function {
    uint64_t id;
    uint32_t name, system_name, filename;
    int64_t start_line;
};

struct in_location {
    uint64_t id, address;
    uint32_t mapping; /* NO_INDEX: none */
    uint32_t line_start, n_lines;
    bool is_folded;
};

struct in_line {
    uint32_t function;
    int64_t line, column;
};

struct in_label {
    uint32_t key, str;
    int64_t num;
    enum label_kind kind;
};

struct in_sample {
    size_t frame_start, label_start; /* they end where the next ones start */
};

struct in_ids {      /* where ids are not 1, 2, 3, … */
    uint64_t *slots; /* pairs: id, place + 1 */
    size_t cap, mask;
    uint64_t seed; /* strangers choose the ids */
    bool used;
};

#define IN_ARRAY(T)                                                            \
    struct {                                                                   \
        T *v;                                                                  \
        size_t n, cap;                                                         \
    }

struct intake {
    IN_ARRAY(struct str) strings;
    IN_ARRAY(struct in_type) types;
    IN_ARRAY(struct in_mapping) mappings;
    IN_ARRAY(struct in_function) functions;
    IN_ARRAY(struct in_location) locations;
    IN_ARRAY(struct in_line) lines;
    IN_ARRAY(struct in_sample) samples; /* and one more behind the last */
    IN_ARRAY(uint32_t) stack;           /* location indices, leaf first */
    IN_ARRAY(int64_t) values;           /* types.n for each sample */
    IN_ARRAY(struct in_label) labels;
    IN_ARRAY(int64_t) comments;

    int64_t drop_frames, keep_frames, default_type, doc_url; /* strings */
    int64_t period_type, period_unit;                        /* strings */
    int64_t time_ns, duration_ns, period;

    struct in_ids mapping_ids, function_ids, location_ids;
    IN_ARRAY(struct str) spans[6]; /* messages by field number */
    struct buf inflated;
};

void intake_release(struct intake *in);
void intake_clear(struct intake *in); /* for the next one */

enum intake_verdict {
    INTAKE_OK,
    INTAKE_OTHER,     /* not certainly a valid profile.proto:
                         profile_read_memory() decides */
    INTAKE_TOO_LARGE, /* the error names the limit */
    INTAKE_NO_MEMORY,
};

struct intake_bounds {
    size_t samples, depth, frames; /* frames: of all samples together */
    size_t records;                /* of all kinds; more are INTAKE_OTHER */
};

/* The bytes must stay while the arrays are used. */
enum intake_verdict intake_read(struct intake *in, struct str bytes,
                                const struct intake_bounds *bounds,
                                struct error *err);

/* The same from the model; the profile must stay while the arrays are used.
 * False: out of memory. */
bool intake_profile(struct intake *in, const struct profile *p);

#endif
