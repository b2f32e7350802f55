#ifndef COLLECTOR_QUERY_PIECES_H
#define COLLECTOR_QUERY_PIECES_H

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "collector/call.h"
#include "store/store.h"

/*
 * Totals of all services by time, kept in pieces.
 *
 * A piece is the result of store_series() for one time range.  It is used until
 * store_changes() says that profiles of that range were added or deleted; only
 * then is the store queried again, for that range alone.  Neighbouring pieces
 * that are missing are queried together.
 *
 * Pieces that were not used for an hour are dropped.  If there are too many,
 * all are dropped.
 */
#define PIECES_MAX_POINTS ((size_t)1 << 20) /* 48 bytes each */

struct piece_group {
    struct str service, profile_type, group, type, unit;
};

struct piece_point {
    uint32_t group;
    int64_t t_ns, sum, duration_ns, newest_ns;
    uint64_t profiles;
};

struct piece {
    int64_t step_ns, length_ns, start_ns;
    int64_t used_ns;  /* when, by the time of the calls */
    uint64_t changes; /* of its time; 0: it has no points yet */
    struct piece_point *points;
    size_t n;
};

struct pieces {
    pthread_mutex_t lock; /* of everything below */
    struct piece *v;      /* sorted by step, length and start */
    size_t n, cap;
    size_t n_points;     /* of all */
    struct arena *arena; /* of the groups; NULL: there are none */
    VEC(struct piece_group) groups;
    struct map index; /* of groups */
    uint64_t asked;   /* questions to the store, for tests */
};

/*
 * A row of pieces: [from, to) is a multiple of `length_ns`.  The step is that
 * length, and `from` a multiple of it, or the step is 0: all is one piece.
 */
struct pieces_range {
    int64_t from_ns, to_ns, length_ns;
    int64_t step_ns;     /* as in store_series */
    struct str group_by; /* the same for all ranges with this step */
};

struct pieces *pieces_new(void);
void pieces_free(struct pieces *p);

/* Between these two, one call alone uses the pieces. */
void pieces_begin(struct pieces *p);
void pieces_end(struct pieces *p, int64_t now_ns);

/* Calls `each` for the points of all pieces of the range.  False: the store
 * failed, and the call says why. */
bool pieces_each(struct pieces *p, struct call *c,
                 const struct pieces_range *range, store_each_point *each,
                 void *arg);

#endif
