#ifndef PROFILE_SAME_TYPES_H
#define PROFILE_SAME_TYPES_H

#include "profile/profile.h"

/*
 * Value types of different profiles, compared by their texts.
 */
/* Returns true if period type and sample types are exactly the same; the error
 * names those that differ. */
bool profile_same_types(const struct profile *a, const struct profile *b,
                        struct error *err);

/* A type with the texts of its profile. */
struct type_text {
    struct str type, unit;
};

static inline struct type_text type_text_of(const struct profile *p,
                                            struct value_type t)
{
    return (struct type_text){profile_str(p, t.type), profile_str(p, t.unit)};
}

static inline bool type_text_same(struct type_text a, struct type_text b)
{
    return str_eq(a.type, b.type) && str_eq(a.unit, b.unit);
}

/* The form in which google/pprof prints a type in errors. */
#define TYPE_FMT    "{%" STR_FMT " %" STR_FMT " 0 0}"
#define TYPE_ARG(t) STR_ARG((t).type), STR_ARG((t).unit)

#endif
