#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * The model: a pprof profile as flat arrays that refer to each other by index.
 *
 *   samples ──loc_start──▶ stack[] ──▶ locations ──line_start──▶ lines
 *      │                                   │                       │
 *      ├──label_start──▶ labels            ▼                       ▼
 *      └── values[i * types.n + t]      mappings               functions
 *                                           └── strings ◀──────────┘
 *
 * - A profile owns its arena; profile_free() ends everything at once.
 * - Every text is a string id: an index into `strings`, interned once, so
 *   that equal texts have equal ids.  Id 0 is "".
 * - Samples are three parallel arrays.  The frames of sample i are
 *   stack[loc_start[i] .. loc_start[i+1]), leaf first; its values
 *   values[i*types.n ..); its labels labels[label_start[i] ..
 *   label_start[i+1]), string labels first, then numeric ones, each sorted
 *   by the bytes of the key, values of one key in their order.
 * - An index that points at nothing is NO_INDEX: a location without mapping.
 *   (A frame without location or a line without function exists only
 *   between decoding and profile_check.)
 * - Ids of mappings, locations and functions are those of the file; our code
 * refers to them only by index.
 */

#define NO_INDEX UINT32_MAX

typedef uint32_t string_id;

struct value_type {
    string_id type, unit;
};

enum label_kind {
    LABEL_STRING,  /* key: str */
    LABEL_NUMBER,  /* key: num, and no value of the key has a unit */
    LABEL_MEASURE, /* key: num with unit `str`; the key has a unit list */
};

struct label {
    string_id key;
    string_id str; /* the value of a string label, the unit of a measure */
    int64_t num;
    enum label_kind kind;
};

struct line {
    uint32_t function;
    int64_t line, column;
};

struct location {
    uint64_t id;
    uint64_t address;
    uint32_t mapping;
    uint32_t line_start, n_lines; /* innermost inlined callee first */
    bool is_folded;
};

struct function {
    uint64_t id;
    string_id name, system_name, filename;
    int64_t start_line;
};

struct mapping {
    uint64_t id;
    uint64_t start, limit, offset;
    string_id file, build_id;
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct profile {
    struct arena *arena;

    VEC(struct str) strings;
    struct map string_index;
    char *text_room; /* where the bytes of the next strings go */
    size_t text_left;

    VEC(struct value_type) types;

    size_t n_samples;
    uint32_t *stack;      /* location indices of all samples */
    size_t *loc_start;    /* n_samples + 1 */
    int64_t *values;      /* n_samples * types.n */
    struct label *labels; /* of all samples */
    size_t *label_start;  /* n_samples + 1 */

    VEC(struct mapping) mappings;
    VEC(struct location) locations;
    VEC(struct line) lines;
    VEC(struct function) functions;

    string_id drop_frames, keep_frames;
    int64_t time_ns, duration_ns;
    struct value_type period_type;
    int64_t period;
    VEC(string_id) comments;
    string_id default_type;
    string_id doc_url;
};

/* An empty profile: no samples, strings = {""}.  The arrays of samples are
 * never NULL, so that an empty stack is an address plus 0. */
struct profile *profile_new(void);
void profile_free(struct profile *p);

/* The id of a text, added when new (the bytes are copied). */
string_id profile_intern(struct profile *p, struct str s);

/* Makes room for `n` further texts of `bytes` bytes in all, so that interning
 * them neither grows the index nor allocates for each. */
void profile_expect_strings(struct profile *p, size_t n, size_t bytes);

/* The id of a text if the profile has it, else NO_INDEX. */
string_id profile_find_string(const struct profile *p, struct str s);

static inline struct str profile_str(const struct profile *p, string_id id)
{
    return p->strings.v[id];
}

static inline size_t profile_depth(const struct profile *p, size_t sample)
{
    return p->loc_start[sample + 1] - p->loc_start[sample];
}

/*
 * Builds samples one after another, for readers that do not know the number
 * beforehand (legacy formats, merge, tests).  Frames and labels are appended
 * to the open sample; profile_add_sample closes it with its values
 * (types.n of them).  The builder keeps the arrays' capacities; when it is
 * done, the profile is a plain one.  Labels must come in the order that the
 * model wants: profile_sort_labels() makes it for one sample.
 */
struct sample_builder {
    struct profile *profile;
    size_t stack_n, stack_cap;
    size_t labels_n, labels_cap;
    size_t samples_cap;
};

void sample_builder_init(struct sample_builder *b, struct profile *p);
void sample_builder_frame(struct sample_builder *b, uint32_t location);
void sample_builder_label(struct sample_builder *b, struct label label);
void sample_builder_end(struct sample_builder *b, const int64_t *values);

/* Sorts labels[0..n) by (string first, key bytes), keeping the order of
 * equal keys, and sets the kind of numeric ones: a measure if any value of
 * the key has a unit, as the model says. */
void profile_sort_labels(const struct profile *p, struct label *labels,
                         size_t n);

/* A deep copy with an arena of its own. */
struct profile *profile_copy(const struct profile *p);

#endif
