/*
 * Retention rules, for every engine.
 */
#include "store/retention.h"

#include <stdlib.h>
#include <string.h>

const int64_t level_ns[STORE_LEVELS] = {
    0,
    (int64_t)60 * 1000000000,
    (int64_t)3600 * 1000000000,
    (int64_t)86400 * 1000000000,
};

static char *copy_text(char **at, struct str s)
{
    char *to = *at;

    if (s.n)
        memcpy(to, s.s, s.n);
    *at += s.n;
    return to;
}

bool retention_copy(const struct store_retention *rules, size_t n,
                    struct retention *out)
{
    struct retention copy = {.n = n};
    size_t bytes = 1;
    char *at;

    for (size_t i = 0; i < n; i++)
        bytes += rules[i].service.n + rules[i].type.n;
    copy.rules = calloc(n + 1, sizeof(*copy.rules));
    copy.text = at = malloc(bytes);
    if (!copy.rules || !copy.text) {
        retention_release(&copy);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        copy.rules[i] = rules[i];
        copy.rules[i].service.s = copy_text(&at, rules[i].service);
        copy.rules[i].type.s = copy_text(&at, rules[i].type);
    }
    *out = copy;
    return true;
}

void retention_release(struct retention *r)
{
    free(r->rules);
    free(r->text);
    *r = (struct retention){0};
}

const struct store_retention *
retention_rule(const struct retention *r, struct str service, struct str type)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct store_retention *rule = &r->rules[i];

        if ((!rule->service.n || str_eq(rule->service, service)) &&
            (!rule->type.n || str_eq(rule->type, type)))
            return rule;
    }
    return NULL;
}
