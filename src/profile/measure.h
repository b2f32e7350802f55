#ifndef PROFILE_MEASURE_H
#define PROFILE_MEASURE_H

#include "base/buf.h"
#include "profile/profile.h"

/*
 * Units of values: their families, and how to convert and print them.
 *
 * There are three families: bytes, time, and GCU (a measure of compute).
 * Units are found whatever their case and with or without a plural s.  A
 * unit of no family ("count", "widgets") is unknown: its numbers stay as
 * they are.
 */

/* Returns true if values of these types are comparable: same name except for a
 * plural s, same unit or unit family. */
bool measure_compatible(struct str type1, struct str unit1, struct str type2,
                        struct str unit2);

/* Is the unit one of time? */
bool measure_is_time(struct str unit);

/*
 * A conversion between two units, looked up once for many values.  The
 * texts are the caller's and must outlive it.
 */
struct measure {
    const struct unit_family *family; /* NULL: unknown, numbers stay */
    double from;                      /* smallest units in one of `from` */
    double to;                        /* 0: chosen for each value */
    struct str unit;                  /* name of the target unit */
};

/*
 * "minimum" and "auto" as target choose, for each value, the largest unit
 * that gives at least 1, or the family's usual one if none does.  A target
 * of another family means the usual unit of the family of `from`.
 */
void measure_init(struct measure *m, struct str from, struct str to);

/* The value in the target unit; the unit's name is static or `to`. */
double measure_convert(const struct measure *m, int64_t value,
                       struct str *unit_out);

/* "1.46kB", "0", "-3s": appends the value in the target unit. */
void measure_add(const struct measure *m, struct buf *out, int64_t value);

/* The same for a single value. */
double measure_scale(int64_t value, struct str from, struct str to,
                     struct str *unit_out);
void measure_label(struct buf *out, int64_t value, struct str from,
                   struct str to);

/* " 1.23%", "  100%": appends the share of total, padded as reports want. */
void measure_percentage(struct buf *out, int64_t value, int64_t total);

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
