#include "report/total.h"

#include "base/i64.h"

/* Has the sample exactly the value "true" under the base label's key? */
static bool is_base(const struct profile *p, size_t sample, string_id key,
                    string_id value)
{
    size_t count = 0;
    bool match = false;

    for (size_t i = p->label_start[sample]; i < p->label_start[sample + 1];
         i++) {
        const struct label *l = &p->labels[i];

        if (l->kind != LABEL_STRING || l->key != key)
            continue;
        count++;
        match = l->str == value;
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
    string_id key = profile_find_string(p, BASE_LABEL_KEY);
    string_id true_id = profile_find_string(p, BASE_LABEL_VALUE);
    bool has_base = key != NO_INDEX && true_id != NO_INDEX;
    struct sum all = {0}, base = {0};

    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t value = i64_abs(report_value(r, i));
        int64_t divisor = report_divisor(r, i);

        add(&all, value, divisor);
        if (has_base && is_base(p, i, key, true_id))
            add(&base, value, divisor);
    }
    if (base.value > 0)
        all = base;
    return all.divisor ? i64_div(all.value, all.divisor) : all.value;
}
