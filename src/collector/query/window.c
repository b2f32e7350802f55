#include "collector/query/window.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/time_text.h"

static bool read_time(struct call *c, const char *name, int64_t missing,
                      int64_t *out)
{
    struct str text = call_param(c, str_from(name));
    struct error err;

    *out = missing;
    if (text.n == 0 || time_parse(text, c->now_ns, out, &err))
        return true;
    call_fail(c, 400, "%s: %s", name, err.text);
    return false;
}

static bool read_values(struct call *c, enum store_values *out)
{
    struct str text = call_param(c, STR("values"));

    *out = STORE_AS_SENT;
    if (text.n == 0 || str_eq(text, STR("sent")))
        return true;
    if (str_eq(text, STR("changes"))) {
        *out = STORE_CHANGES;
        return true;
    }
    call_fail(c, 400, "values: must be sent or changes, not \"%" STR_FMT "\"",
              STR_ARG(text));
    return false;
}

/* The matchers of the selector, and what the client may read at all. */
static void use_selector(struct window *w, struct call *c)
{
    struct store_matcher *all =
        arena_new_array(c->arena, struct store_matcher, w->selector.n + 1);

    if (w->selector.n > 0)
        memcpy(all, w->selector.matchers, w->selector.n * sizeof(*all));
    w->query.matchers = all;
    w->query.n_matchers =
        w->selector.n + call_restriction(c, &all[w->selector.n]);
}

static bool read_selector(struct window *w, struct call *c, const char *name,
                          struct str text)
{
    struct error err;

    if (!selector_parse(&w->selector, c->arena, text, &err)) {
        call_fail(c, 400, "%s: %s", name, err.text);
        return false;
    }
    use_selector(w, c);
    return true;
}

static bool check_order(struct call *c, const struct window *w)
{
    if (w->query.from_ns <= w->query.to_ns)
        return true;
    call_fail(c, 400, "from is after to; from must be the earlier time");
    return false;
}

bool window_read(struct window *w, struct call *c)
{
    *w = (struct window){0};
    if (!read_time(c, "from", c->now_ns - HOUR, &w->query.from_ns) ||
        !read_time(c, "to", c->now_ns, &w->query.to_ns) || !check_order(c, w) ||
        !read_values(c, &w->values))
        return false;
    return read_selector(w, c, "query", call_param(c, STR("query")));
}

bool window_read_base(struct window *w, struct call *c,
                      const struct window *other)
{
    int64_t length = other->query.to_ns - other->query.from_ns;
    struct str text = call_param(c, STR("base_query"));

    *w = (struct window){.values = other->values};
    if (text.n == 0)
        text = call_param(c, STR("query"));
    if (!read_time(c, "base_to", other->query.from_ns - 1, &w->query.to_ns) ||
        !read_time(c, "base_from", w->query.to_ns - length,
                   &w->query.from_ns) ||
        !check_order(c, w))
        return false;
    return read_selector(w, c, "base_query", text);
}

void window_release(struct window *w)
{
    selector_release(&w->selector);
}

bool window_duration(struct call *c, struct str name, int64_t missing,
                     int64_t *out)
{
    struct str text = call_param(c, name);
    struct error err;

    *out = missing;
    if (text.n == 0 || duration_parse(text, out, &err))
        return true;
    call_fail(c, 400, "%" STR_FMT ": %s", STR_ARG(name), err.text);
    return false;
}

bool window_count(struct call *c, struct str name, uint64_t missing,
                  uint64_t max, uint64_t *out)
{
    struct str text = call_param(c, name);

    *out = missing;
    if (text.n == 0 || (str_to_u64(text, 10, out) && *out >= 1 && *out <= max))
        return true;
    call_fail(c, 400,
              "%" STR_FMT ": \"%" STR_FMT
              "\" is not a number from 1 to %" PRIu64,
              STR_ARG(name), STR_ARG(text), max);
    return false;
}
