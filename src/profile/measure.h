#ifndef PROFILE_MEASURE_H
#define PROFILE_MEASURE_H

#include "base/buf.h"
#include "profile/profile.h"

/*
 * Units of values: which belong together, how to convert and print them.
 */

/* Are values of these types comparable: same name but for a plural s, same
 * unit family? */
bool measure_compatible(struct str type1, struct str unit1, struct str type2,
                        struct str unit2);

/*
 * value in unit `from` expressed in unit `to` ("minimum" and "auto" choose
 * the largest unit that gives at least 1).  *unit_out is a static text or
 * one of the arguments.
 */
double measure_scale(int64_t value, struct str from, struct str to,
                     struct str *unit_out);

/* "1.46kB", "0", "-3s": appends value in `from` printed in `to`. */
void measure_label(struct buf *out, int64_t value, struct str from,
                   struct str to);

/* " 1.23%", "  100%": appends the share of total, padded as reports want. */
void measure_percentage(struct buf *out, int64_t value, int64_t total);

/* Is the unit one of time? */
bool measure_is_time(struct str unit);

/*
 * The unit in which numeric labels of a key are shown: the first that any
 * sample has; else what the key's name suggests.
 */
struct label_unit {
    string_id key;
    struct str unit;
    struct str others; /* further units seen, sorted, joined by ", " */
};

struct label_units {
    VEC(struct label_unit) units; /* sorted by the bytes of the key */
};

/* Memory comes from `a`; the texts may point into the profile. */
void label_units_find(struct label_units *out, struct arena *a,
                      const struct profile *p);

/* The unit for a key; the key itself when it is not there. */
struct str label_units_of(const struct label_units *units,
                          const struct profile *p, string_id key);

#endif
