#ifndef STORE_CLICKHOUSE_LOAD_H
#define STORE_CLICKHOUSE_LOAD_H

#include "store/clickhouse/engine.h"
#include "store/clickhouse/rowbin.h"

/*
 * Records by their fingerprints, into a dictionary.
 *
 *     loader_want(&l, KIND_STACK, print) …
 *     loader_run(&l, err)
 *     loader_number(&l, KIND_STACK, print, &node)
 *
 * A record is fetched with everything that it refers to: one query for each
 * level, from stacks down to strings.
 */
struct print_map {
    uint64_t *keys;
    uint32_t *places; /* in the list, + 1 */
    size_t mask;
    uint64_t *list;
    uint32_t *numbers; /* in the dictionary; NO_NUMBER: not there yet */
    size_t n, cap, numbers_cap;
};

struct found_record {
    uint8_t kind;
    uint64_t print;
    struct unrow_array refs;
    struct str record;
};

enum { LOAD_LEVELS = 4 };

struct loader {
    struct ch_store *s;
    struct str where; /* "… AND " in front of the conditions; or "" */
    const struct store_budget *budget;
    struct dict d;
    struct print_map maps[KINDS];
    struct buf replies[LOAD_LEVELS];
    struct found_record *found;
    size_t n_found, found_cap;
    enum store_status status; /* when something failed */
};

bool loader_init(struct loader *l, struct ch_store *s,
                 const struct store_budget *budget);
void loader_release(struct loader *l);

/* False: out of memory. */
bool loader_want(struct loader *l, unsigned kind, uint64_t print);
bool loader_run(struct loader *l, struct error *err);

/* The parts of it: notes the records of a level's reply, each once; gives
 * numbers to all. */
bool loader_take(struct loader *l, unsigned level);
bool loader_finish(struct loader *l, struct error *err);

bool loader_number(const struct loader *l, unsigned kind, uint64_t print,
                   uint32_t *out);

/* Wants what the references of a row's extras name; and the extras in the
 * numbers of the dictionary, once it is loaded. */
bool loader_want_extras(struct loader *l, struct str extras,
                        const struct unrow_array *refs);
bool loader_extras(struct loader *l, struct str extras,
                   const struct unrow_array *refs, struct buf *out);

#endif
