#include "base/label_set.h"

#include <string.h>

#include "base/search.h"

/* The first label whose name is not below `name`. */
static size_t place_of(const struct label_set *s, struct str name)
{
    return search_first(i, 0, s->n, str_cmp(s->v[i].name, name) >= 0);
}

static bool is_at(const struct label_set *s, size_t i, struct str name)
{
    return i < s->n && str_eq(s->v[i].name, name);
}

static void remove_at(struct label_set *s, size_t i)
{
    s->n--;
    memmove(s->v + i, s->v + i + 1, (s->n - i) * sizeof(*s->v));
}

struct str label_set_get(const struct label_set *s, struct str name)
{
    size_t i = place_of(s, name);

    return is_at(s, i, name) ? s->v[i].value : STR("");
}

void label_set_put(struct arena *a, struct label_set *s, struct str name,
                   struct str value)
{
    size_t i = place_of(s, name);

    if (value.n == 0) {
        if (is_at(s, i, name))
            remove_at(s, i);
        return;
    }
    if (!is_at(s, i, name)) {
        vec_push(a, s);
        memmove(s->v + i + 1, s->v + i, (s->n - 1 - i) * sizeof(*s->v));
    }
    s->v[i] = (struct label_pair){name, value};
}

struct label_set label_set_copy(struct arena *a, const struct label_set *s)
{
    struct label_set copy = {.v = arena_new_array(a, struct label_pair, s->n),
                             .n = s->n,
                             .cap = s->n};

    for (size_t i = 0; i < s->n; i++)
        copy.v[i] = (struct label_pair){arena_str(a, s->v[i].name),
                                        arena_str(a, s->v[i].value)};
    return copy;
}

bool label_set_equal(const struct label_set *x, const struct label_set *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        if (!str_eq(x->v[i].name, y->v[i].name) ||
            !str_eq(x->v[i].value, y->v[i].value))
            return false;
    }
    return true;
}
