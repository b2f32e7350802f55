#include "report/total.h"

#include "base/i64.h"

struct base_mark base_mark_find(const struct profile *p)
{
    struct base_mark m = {profile_find_string(p, BASE_LABEL_KEY),
                          profile_find_string(p, BASE_LABEL_VALUE)};

    if (m.value == NO_INDEX)
        m.key = NO_INDEX;
    return m;
}

bool base_mark_on(const struct base_mark *m, const struct profile *p,
                  size_t sample)
{
    size_t count = 0;
    bool match = false;

    if (m->key == NO_INDEX)
        return false;
    for (size_t i = p->label_start[sample]; i < p->label_start[sample + 1];
         i++) {
        const struct label *l = &p->labels[i];

        if (l->kind != LABEL_STRING || l->key != m->key)
            continue;
        count++;
        match = l->str == m->value;
    }
    return count == 1 && match;
}

struct sum {
    int64_t value, divisor;
};

static void add(struct sum *s, int64_t value, int64_t divisor)
{
    s->value = i64_add(s->value, value);
    s->divisor = i64_add(s->divisor, divisor);
}

int64_t report_total(const struct report *r)
{
    const struct profile *p = r->profile;
    struct base_mark mark = base_mark_find(p);
    struct sum all = {0}, base = {0};

    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t value = i64_abs(report_value(r, i));
        int64_t divisor = report_divisor(r, i);

        add(&all, value, divisor);
        if (base_mark_on(&mark, p, i))
            add(&base, value, divisor);
    }
    if (base.value > 0)
        all = base;
    return all.divisor ? i64_div(all.value, all.divisor) : all.value;
}
