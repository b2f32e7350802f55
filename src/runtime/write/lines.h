#ifndef RUNTIME_WRITE_LINES_H
#define RUNTIME_WRITE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/str.h"
#include "dwarf/library.h"

/*
 * Files, lines and inlined calls of addresses: the answers of line_lookup.h
 * for one profile, and what line_cache.h keeps of them.
 *
 * Every address has a place, which says where its frames are; equal functions
 * are stored once.
 */
struct line_function {
    uint32_t name, file; /* offsets in text */
    int64_t start_line;
    uint64_t id; /* for the writer; 0 at first */
};

struct line_frame {
    uint32_t function;
    int64_t line, column;
};

struct line_place {
    uint32_t first, n; /* frames, innermost first; n 0: not known */
    bool is_final;     /* nobody will know more */
    bool is_cached;    /* the answer was known before */
};

struct lines {
    struct pages_vec places;    /* of struct line_place, one an address */
    struct pages_vec frames;    /* of struct line_frame */
    struct pages_vec functions; /* of struct line_function */
    struct pages_vec slots;     /* of uint32_t: hash to function + 1 */
    struct pages_vec text;      /* NUL-terminated texts */
    bool failed;                /* out of memory: what there is stays */
};

#define LINES_MAX_FRAMES 64 /* of one address; more inner ones are cut off */

void lines_init(struct lines *l);
void lines_release(struct lines *l);

/* Room for finding equal functions: when there are more than so many slots,
 * some are stored twice.  Before lines_add().  False: out of memory. */
bool lines_reserve(struct lines *l, size_t slots);

/* Stores the frames of an address and says in *place where they are. */
void lines_add(struct lines *l, struct line_place *place,
               const struct symbol_frame *frames, size_t n);

/* Stores the frames that another one has at `from`. */
void lines_copy(struct lines *l, struct line_place *place,
                const struct lines *other, struct line_place from);

static inline struct line_place lines_at(const struct lines *l, size_t i)
{
    const struct line_place *v = l ? l->places.p : NULL;

    return l && i < l->places.n ? v[i] : (struct line_place){0};
}

static inline const struct line_frame *lines_frames(const struct lines *l,
                                                    struct line_place p)
{
    return p.n ? (const struct line_frame *)l->frames.p + p.first : NULL;
}

static inline struct line_function *lines_function(const struct lines *l,
                                                   uint32_t function)
{
    return (struct line_function *)l->functions.p + function;
}

static inline struct str lines_text(const struct lines *l, uint32_t offset)
{
    return str_from((const char *)l->text.p + offset);
}

#endif
