/*
 * Does a series belong to a selection?
 */
#include "store/read/scan.h"

#include "store/grow.h"
#include "store/pack.h"

static bool holds(const struct store_matcher *m, struct str value)
{
    switch (m->op) {
    case STORE_EQUAL:
        return str_eq(value, m->value);
    case STORE_NOT_EQUAL:
        return !str_eq(value, m->value);
    case STORE_MATCH:
        return m->matches(m->arg, value);
    case STORE_NO_MATCH:
        return !m->matches(m->arg, value);
    }
    return false;
}

/* A key may occur several times; then any of its values may do, and for the
 * negative conditions all must. */
static bool label_holds(const struct store_matcher *m,
                        const struct store_label *labels, size_t n)
{
    bool negative = m->op == STORE_NOT_EQUAL || m->op == STORE_NO_MATCH;
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        if (!str_eq(labels[i].key, m->key))
            continue;
        found = true;
        if (holds(m, labels[i].value) != negative)
            return !negative;
    }
    return found ? negative : holds(m, STR(""));
}

bool query_matches_service(const struct store_query *q, struct str service)
{
    for (size_t i = 0; i < q->n_matchers; i++)
        if (q->matchers[i].field == STORE_SERVICE &&
            !holds(&q->matchers[i], service))
            return false;
    return true;
}

bool query_matches(const struct store_query *q, struct str service,
                   struct str type, const struct store_label *labels, size_t n)
{
    for (size_t i = 0; i < q->n_matchers; i++) {
        const struct store_matcher *m = &q->matchers[i];

        if (m->field == STORE_SERVICE ? !holds(m, service)
            : m->field == STORE_TYPE  ? !holds(m, type)
                                      : !label_holds(m, labels, n))
            return false;
    }
    return true;
}

bool series_labels(struct str packed, struct store_label **labels, size_t *cap,
                   size_t *n)
{
    struct wire_reader r = unpack_begin(packed);

    for (*n = 0; wire_more(&r); ++*n)
        if (!grow(labels, cap, *n + 1) ||
            !unpack_bytes(&r, &(*labels)[*n].key) ||
            !unpack_bytes(&r, &(*labels)[*n].value))
            return false;
    return true;
}
