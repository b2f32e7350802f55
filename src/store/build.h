#ifndef STORE_BUILD_H
#define STORE_BUILD_H

#include "base/error.h"
#include "profile/wire_read.h"
#include "store/row.h"

/*
 * Builds a segment: collects rows from one or more dictionaries, then writes
 * one dictionary with only what they use, and blocks of rows sorted by series
 * and time.  Sealing, joining and downsampling all use it.
 *
 * A block has two parts, each compressed: the descriptions of its rows, and
 * their samples.  Within a block a row may be stored as changes to the one
 * before it.  A block whose first row has a known predecessor begins with
 * that, so that changes can be read from the block alone.
 */
struct build_row {
    struct row_meta meta;
    unsigned char *packed; /* samples, then those of the row before */
    size_t samples_n, before_n;
    unsigned char *extras;
    unsigned kind;
};

struct builder {
    struct dict d;
    bool borrows;  /* the dictionary is borrowed */
    unsigned kind; /* of the rows that are added; kinds share no block */
    struct build_row *rows;
    size_t n, cap;
    size_t samples; /* of all rows */
    struct buf scratch;
};

bool builder_init(struct builder *b);
void builder_release(struct builder *b);

/* A builder of rows that have the numbers of a dictionary already; it must
 * stay as it is. */
void builder_borrow(struct builder *b, const struct dict *d);

/*
 * Adds a row in the numbers of m->from; m->to must be &b->d.  For borrowed
 * dictionaries m is NULL.  `before` is the row before it in its series where
 * that is not among the rows added, or NULL.
 */
bool builder_add(struct builder *b, struct dict_import *m,
                 const struct row_meta *meta, const struct row_samples *s,
                 const struct row_samples *before);

struct built_block {
    uint32_t series; /* number in the packed dictionary */
    unsigned kind;
    int64_t t0_ns, t1_ns;
    size_t n;
    uint64_t profiles, posted_bytes;
    struct str meta, samples;
    const struct store_id *ids; /* n of them */
    const int64_t *times;       /* created_ns of each */
};

typedef bool built_dict(void *arg, struct str packed, const struct dict *d,
                        struct error *err);
typedef bool built_each(void *arg, const struct built_block *block,
                        struct error *err);

/*
 * Packs everything: calls `dict` once, with the dictionary before sorting
 * (series keep their numbers), then `each` for every block.
 */
bool builder_finish(struct builder *b, int level, built_dict *dict,
                    built_each *each, void *arg, struct error *err);

/* The same without the dictionary, for a borrowed one that is stored: its
 * numbers stay. */
bool builder_finish_blocks(struct builder *b, int level, built_each *each,
                           void *arg, struct error *err);

/*
 * Reading blocks.
 *
 *     block_open(&r, meta, samples or "", dict, err)
 *     while (block_next(&r, &more, err) && more)
 *         r.meta, r.samples, r.before
 */
struct block_reader {
    const struct dict *d;
    struct buf metas, packed;
    struct wire_reader meta_at, packed_at;
    bool at_first;
    bool with_samples;
    bool has_before; /* `before` is the row before this one */
    struct row_meta meta;
    struct row_samples samples, before;
};

bool block_open(struct block_reader *r, struct str meta, struct str samples,
                bool with_samples, const struct dict *d, struct error *err);
bool block_next(struct block_reader *r, bool *more, struct error *err);
void block_reader_release(struct block_reader *r);

#endif
