/*
 * One build: its rows are inserted, then compared with the profiles, and only
 * then noted as made.  So nothing is half counted when a collector or
 * ClickHouse ends in between, when an insert is repeated, or when profiles
 * come while it runs; what is left of such a build goes when another one is
 * sealed.
 */
#include "store/clickhouse/make_sums.h"

#include <inttypes.h>

#include <string.h>

#include "base/hash.h"
#include "store/clickhouse/build_sql.h"
#include "store/clickhouse/rowbin.h"

/* The upper half is one more than that of the build before; the lower half
 * keeps builds of two collectors apart. */
static uint64_t next_build(const struct ch_store *s, uint64_t last)
{
    struct store_id id = store_id_make(put_now(&s->opt));
    uint64_t who;

    memcpy(&who, id.bytes + STORE_ID_BYTES - sizeof(who), sizeof(who));
    return ((last >> 32) + 1) << 32 | hash_mix(who) >> 32;
}

static bool insert(struct ch_store *s, struct buf *sql, struct error *err)
{
    struct ch_request r = {.sql = buf_str(sql),
                           .timeout_ns = SUM_BUILD_NS,
                           .may_spill = true,
                           .is_sync = s->cluster != NULL};

    return buf_ok(sql) ? ch_run(s->client, &r, err) == STORE_OK
                       : error_set(err, "out of memory");
}

static bool add_level(struct ch_store *s, const struct build_plan *p,
                      unsigned level, uint64_t build, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    struct build_part part = {
        .day = p->day,
        .level = level,
        .build = build,
        .types = p->types,
        .parts = 1 + (unsigned)(p->samples / SUM_SAMPLES),
        .once = p->once,
        .has_cumulative = p->has_cumulative,
    };
    bool ok = true;

    for (part.part = 0; ok && part.part < part.parts; part.part++)
        for (int wide = 0; ok && wide <= p->has_wide; wide++) {
            part.is_wide = wide;
            buf_clear(&sql);
            build_sql(&part, &sql);
            ok = insert(s, &sql, err);
        }
    buf_release(&sql);
    return ok;
}

static bool ask_numbers(struct ch_store *s, struct buf *sql, uint64_t *out,
                        size_t n, struct error *err)
{
    struct buf reply = BUF_INIT(256);
    struct ch_request r = {.sql = buf_str(sql), .out = &reply};
    struct wire_reader at;
    bool ok = buf_ok(sql) ? ch_run(s->client, &r, err) == STORE_OK
                          : error_set(err, "out of memory");

    at = unpack_begin(buf_str(&reply));
    for (size_t i = 0; ok && i < n; i++)
        ok = unrow_u64(&at, &out[i]) ||
             error_set(err, "ClickHouse did not answer with a number");
    buf_release(&reply);
    return ok;
}

/* Has every level each profile that is there now, once?  And is none of them
 * being dropped, because others have sealed their sums meanwhile? */
static bool is_complete(struct ch_store *s, const struct build_plan *p,
                        uint64_t build, bool *out, struct error *err)
{
    struct buf sql = BUF_INIT((size_t)16 << 20);
    uint64_t levels[3], profiles, sealed;
    bool ok;

    buf_addf(&sql,
             "SELECT count(), min(p), max(p) FROM (SELECT level, "
             "sum(profiles) AS p, count() AS n, uniqExact(id) AS u FROM "
             "pprofd_sums WHERE day = toDate(toUInt16(%u)) AND build = "
             "%" PRIu64 " GROUP BY level HAVING n = u) FORMAT RowBinary",
             p->day, build);
    ok = ask_numbers(s, &sql, levels, 3, err);
    buf_clear(&sql);
    buf_addf(&sql,
             "SELECT uniqExact(id) FROM pprofd_profiles WHERE day = "
             "toDate(toUInt16(%u)) AND flags = 0%" STR_FMT " FORMAT RowBinary",
             p->day, STR_ARG(p->types));
    ok = ok && ask_numbers(s, &sql, &profiles, 1, err);
    buf_clear(&sql);
    buf_addf(&sql,
             "SELECT count() FROM pprofd_builds WHERE day = "
             "toDate(toUInt16(%u)) AND state = %d%" STR_FMT " FORMAT RowBinary",
             p->day, SUM_SEALED, STR_ARG(p->types));
    ok = ok && ask_numbers(s, &sql, &sealed, 1, err);
    *out = ok && !sealed &&
           levels[0] == (uint64_t)__builtin_popcount(p->levels) &&
           levels[1] == profiles && levels[2] == profiles;
    buf_release(&sql);
    return ok;
}

/* For others, so that they do not make the same at the same time. */
static bool note_begun(struct ch_store *s, const struct build_plan *p,
                       uint64_t build, struct error *err)
{
    struct buf sql = BUF_INIT(4096);
    bool ok;

    buf_addf(&sql,
             "INSERT INTO pprofd_builds (day, service, type, build, levels, "
             "profiles, state, at) SELECT toDate(toUInt16(%u)), '', '', "
             "toUInt64(%" PRIu64 "), toUInt8(0), toUInt64(0), toUInt8(%d), "
             "toUInt32(now())",
             p->day, build, SUM_BEGUN);
    ok = insert(s, &sql, err);
    buf_release(&sql);
    return ok;
}

static bool note_made(struct ch_store *s, const struct build_plan *p,
                      uint64_t build, struct error *err)
{
    struct buf sql = BUF_INIT(4096);
    bool ok;

    buf_addf(&sql,
             "INSERT INTO pprofd_builds (day, service, type, build, levels, "
             "profiles, state, at) SELECT day, service, type, build, "
             "toUInt8(%u), sum(profiles), toUInt8(%d), toUInt32(now()) FROM "
             "pprofd_sums WHERE day = toDate(toUInt16(%u)) AND build = "
             "%" PRIu64 " AND level = %d GROUP BY day, service, type, build",
             p->levels, SUM_MADE, p->day, build, __builtin_ctz(p->levels));
    ok = insert(s, &sql, err);
    buf_release(&sql);
    return ok;
}

bool ch_make_sums(struct ch_store *s, const struct build_plan *p, bool *made,
                  struct error *err)
{
    uint64_t build = next_build(s, p->last);
    bool ok = note_begun(s, p, build, err);

    *made = false;
    for (unsigned level = STORE_MINUTE; ok && level < STORE_LEVELS; level++)
        if (p->levels & 1u << level)
            ok = add_level(s, p, level, build, err);
    ok = ok && is_complete(s, p, build, made, err);
    return ok && (!*made || note_made(s, p, build, err));
}
