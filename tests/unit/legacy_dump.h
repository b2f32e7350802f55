#ifndef TESTS_UNIT_LEGACY_DUMP_H
#define TESTS_UNIT_LEGACY_DUMP_H

/*
 * A legacy profile in and a few lines of text out, for the tests of what the
 * parsers make of it:
 *
 *     contentions/count delay/nanoseconds
 *     period 100 contentions/count
 *     duration 5000000
 *     2 30: 0x10@1 0x20@2 bytes=15          frames as address@mapping id,
 *     1 10: f(f.java:3)                     or function(file:line)
 *     1: 400000-500000+0 /bin/x             mappings: id, range, offset
 */
#include "base/buf.h"
#include "profile/legacy.h"

static inline void dump_frame(const struct profile *p, uint32_t index,
                              struct buf *out)
{
    const struct location *loc = &p->locations.v[index];

    if (loc->n_lines == 0) {
        buf_addf(out, " 0x%llx", (unsigned long long)loc->address);
    } else {
        const struct line *line = &p->lines.v[loc->line_start];
        const struct function *f = &p->functions.v[line->function];

        buf_add_char(out, ' ');
        buf_add(out, profile_str(p, f->name));
        buf_add_char(out, '(');
        buf_add(out, profile_str(p, f->filename));
        buf_addf(out, ":%lld)", (long long)line->line);
    }
    if (loc->mapping != NO_INDEX)
        buf_addf(out, "@%llu",
                 (unsigned long long)p->mappings.v[loc->mapping].id);
}

static inline void dump_type(const struct profile *p, struct value_type t,
                             struct buf *out)
{
    buf_add(out, profile_str(p, t.type));
    buf_add_char(out, '/');
    buf_add(out, profile_str(p, t.unit));
}

static inline void dump_sample(const struct profile *p, size_t i,
                               struct buf *out)
{
    for (size_t t = 0; t < p->types.n; t++)
        buf_addf(out, "%s%lld", t ? " " : "",
                 (long long)p->values[i * p->types.n + t]);
    buf_add_char(out, ':');
    for (size_t k = p->loc_start[i]; k < p->loc_start[i + 1]; k++)
        dump_frame(p, p->stack[k], out);
    for (size_t k = p->label_start[i]; k < p->label_start[i + 1]; k++) {
        buf_add_char(out, ' ');
        buf_add(out, profile_str(p, p->labels[k].key));
        buf_addf(out, "=%lld", (long long)p->labels[k].num);
    }
    buf_add_char(out, '\n');
}

static inline void dump_mapping(const struct profile *p,
                                const struct mapping *m, struct buf *out)
{
    struct str build_id = profile_str(p, m->build_id);

    buf_addf(out, "%llu: %llx-%llx+%llx ", (unsigned long long)m->id,
             (unsigned long long)m->start, (unsigned long long)m->limit,
             (unsigned long long)m->offset);
    buf_add(out, profile_str(p, m->file));
    if (build_id.n)
        buf_addf(out, " %" STR_FMT, STR_ARG(build_id));
    buf_add_char(out, '\n');
}

static inline void dump_profile(const struct profile *p, struct buf *out)
{
    for (size_t t = 0; t < p->types.n; t++) {
        if (t)
            buf_add_char(out, ' ');
        dump_type(p, p->types.v[t], out);
    }
    buf_addf(out, "\nperiod %lld ", (long long)p->period);
    dump_type(p, p->period_type, out);
    buf_add_char(out, '\n');
    if (p->duration_ns)
        buf_addf(out, "duration %lld\n", (long long)p->duration_ns);
    for (size_t i = 0; i < p->n_samples; i++)
        dump_sample(p, i, out);
    for (size_t i = 0; i < p->mappings.n; i++)
        dump_mapping(p, &p->mappings.v[i], out);
}

/* The dump, or "error: …"; `out` holds it. */
static inline struct str parse_and_dump_limited(struct str bytes,
                                                struct profile_limits limits,
                                                struct buf *out)
{
    struct error err;
    struct profile *p = profile_parse_legacy(bytes, &limits, &err);

    buf_clear(out);
    if (p)
        dump_profile(p, out);
    else
        buf_addf(out, "error: %s", err.text);
    profile_free(p);
    return buf_str(out);
}

#define EXPECT_DUMP(bytes, want)                                               \
    EXPECT_DUMP_LIMITED(bytes, profile_default_limits, want)

#define EXPECT_DUMP_LIMITED(bytes, limits, want)                               \
    do {                                                                       \
        struct buf dump_ = BUF_INIT(BUF_NO_LIMIT);                             \
        EXPECT_STR(parse_and_dump_limited(bytes, limits, &dump_), want);       \
        buf_release(&dump_);                                                   \
    } while (0)

#endif
