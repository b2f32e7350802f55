#ifndef STORE_DICT_H
#define STORE_DICT_H

#include "base/buf.h"
#include "store/table.h"

/*
 * What the profiles of one segment have in common: names, places, stacks.
 *
 * Everything but the stacks is a table of byte strings, packed records that
 * refer to each other by number, so that equal content means equal number:
 *
 *     string    the text; number 0 is ""
 *     function  name, system name, file (strings), start line
 *     mapping   file, build id (strings), offset, size in pages, twin
 *     location  mapping + 1 and "folded", address relative to the file,
 *               lines (function, line, column)
 *     labels    a sample's labels in the order of the model; number 0: none
 *     image     where the mappings of a process were, and their flags
 *     header    sample types, period type, frame expressions, default type,
 *               URL, comments, which types are cumulative
 *     series    type of the profile, its labels
 *
 * Addresses move from process to process, so a location's address is that of
 * the mapped file (address - start + offset) and the image has the rest.
 * `twin` counts mappings of one process that are otherwise equal.
 *
 * Stacks are a tree: node 0 is the root, node i is a location called from
 * parent(i) < i.  A sample refers to its leaf.
 */
enum dict_kind {
    DICT_STRING,
    DICT_FUNCTION,
    DICT_MAPPING,
    DICT_LOCATION,
    DICT_LABELS,
    DICT_IMAGE,
    DICT_HEADER,
    DICT_SERIES,
    DICT_KINDS,
};

struct dict_node {
    uint32_t parent, location;
};

struct dict {
    struct table tables[DICT_KINDS];
    struct dict_node *nodes;
    size_t n_nodes, nodes_cap;
    uint32_t *node_slots; /* node number; 0 is free */
    size_t node_mask;
    uint64_t node_seed; /* seeded, because the stacks are untrusted */
    /* Location by mapping and address alone, as a first guess: see intern.c. */
    uint32_t *guess; /* number + 1 */
    size_t guess_mask;
};

/* How many records of each kind there are, nodes last. */
struct dict_size {
    uint32_t n[DICT_KINDS + 1];
};

bool dict_init(struct dict *d); /* with the records that have number 0 */
void dict_release(struct dict *d);
size_t dict_memory(const struct dict *d);
struct dict_size dict_size(const struct dict *d);

static inline struct str dict_get(const struct dict *d, enum dict_kind kind,
                                  uint32_t i)
{
    return table_get(&d->tables[kind], i);
}

static inline bool dict_intern(struct dict *d, enum dict_kind kind,
                               struct str record, uint32_t *out)
{
    return table_intern(&d->tables[kind], record, out);
}

/* The node for a location called from `parent`, added when new. */
bool dict_intern_node(struct dict *d, uint32_t parent, uint32_t location,
                      uint32_t *out);

/*
 * The same for several independent nodes, at most DICT_LANES: a lookup waits
 * for memory most of its time, so all of them wait together.
 */
enum { DICT_LANES = 16 };
bool dict_intern_nodes(struct dict *d, const struct dict_node *wanted, size_t n,
                       uint32_t *out);

/* Appends a node known to be new; for dictionaries that are only read. */
bool dict_append_node(struct dict *d, uint32_t parent, uint32_t location);

/*
 * Rewrites a record with other numbers in it: calls `ref` for each reference
 * to another record and appends the record with the numbers it gave.  False
 * when the record is malformed or `ref` or the memory fails.  This is also
 * how records are checked: with a `ref` that looks whether the number exists.
 */
typedef bool dict_ref(void *arg, enum dict_kind kind, uint32_t from,
                      uint32_t *to);
bool dict_translate(enum dict_kind kind, struct str record, dict_ref *ref,
                    void *arg, struct buf *out);

/*
 * The records after `from` as bytes, and back: what the log holds of a
 * dictionary.  Reading checks every reference; a record that came already
 * (same number) is an error.
 */
void dict_write_since(const struct dict *d, const struct dict_size *from,
                      struct buf *out);
struct wire_reader;
bool dict_read_since(struct dict *d, struct wire_reader *r);

/* Checks all records from `from` on. */
bool dict_check(const struct dict *d, const struct dict_size *from);

/*
 * Copying records from one dictionary into another, each once, with all they
 * refer to.
 */
struct dict_import {
    const struct dict *from;
    struct dict *to;
    uint32_t *map[DICT_KINDS + 1]; /* number there + 1; 0: not copied yet */
    struct buf scratch[DICT_KINDS];
};

bool dict_import_init(struct dict_import *m, const struct dict *from,
                      struct dict *to);
void dict_import_release(struct dict_import *m);
bool dict_import_record(struct dict_import *m, enum dict_kind kind,
                        uint32_t from, uint32_t *to);
bool dict_import_node(struct dict_import *m, uint32_t from, uint32_t *to);

#endif
