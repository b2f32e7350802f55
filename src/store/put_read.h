#ifndef STORE_PUT_READ_H
#define STORE_PUT_READ_H

#include <stdatomic.h>

#include "store/intake.h"
#include "store/intern.h"
#include "store/options.h"

/*
 * From the bytes of a put to the arrays of an intake, within the limits of a
 * store: what every engine does before it writes anything.
 */

/* Buffers for one put at a time. */
struct scratch {
    struct scratch *next;
    struct intake in;
    struct interner intern;
    struct profile *model; /* of a format that goes through it, or NULL */
    bool is_large;         /* one of the few large puts */
    struct row_samples before;
    struct buf row;
    struct store_label *labels; /* sorted */
    size_t labels_cap;
};

struct scratch *scratch_new(void); /* NULL: out of memory */
void scratch_free(struct scratch *c);

struct put_bounds {
    const struct store_options *opt;
    atomic_int *large_puts; /* being read now */
};

/* Returns true if the put's description is within the limits. */
enum store_status put_check(const struct put_bounds *s,
                            const struct store_put *put, struct error *err);

/* Reads the profile into c->in.  The caller releases c->model and
 * c->is_large. */
enum store_status put_read(const struct put_bounds *s,
                           const struct store_put *put, struct scratch *c,
                           struct error *err);

/* Fills c->labels, by key, equal keys in their order.  False: no memory. */
bool put_sort_labels(struct scratch *c, const struct store_put *put);

/* The time of the profile. */
int64_t put_created_at(const struct put_bounds *s, const struct store_put *put,
                       const struct intake *in);
int64_t put_now(const struct store_options *o);

#endif
