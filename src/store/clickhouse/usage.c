/*
 * How much of the database each service and type takes: profiles, then sums,
 * then names and stacks.
 */
#include "store/clickhouse/engine.h"
#include "store/clickhouse/rowbin.h"

static bool table_bytes(struct ch_store *s, const char *table, uint64_t *out,
                        struct error *err)
{
    struct buf sql = BUF_INIT(4096), reply = BUF_INIT(64);
    struct ch_request r = {.out = &reply};
    struct wire_reader at;
    bool ok;

    buf_addf(&sql,
             "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE "
             "active AND database = '%" STR_FMT "' AND table = '%s%s' FORMAT "
             "RowBinary",
             STR_ARG(ch_database(s->client)), table,
             s->cluster ? "_local" : "");
    r.sql = buf_str(&sql);
    ok = ch_run(s->client, &r, err) == STORE_OK;
    at = unpack_begin(buf_str(&reply));
    if (ok && !unrow_u64(&at, out))
        *out = 0;
    buf_release(&sql);
    buf_release(&reply);
    return ok;
}

struct share {
    struct str service, type;
    uint64_t profiles, posted, weight;
};

static bool read_share(struct wire_reader *r, struct share *out)
{
    return unrow_text(r, &out->service) && unrow_text(r, &out->type) &&
           unrow_u64(r, &out->profiles) && unrow_u64(r, &out->posted) &&
           unrow_u64(r, &out->weight);
}

/* Figures of a reply may be anything. */
static uint64_t part_of(uint64_t bytes, uint64_t weight, double all)
{
    double part = all > 0 ? (double)bytes * ((double)weight / all) : 0;

    return part < 0x1p64 ? (uint64_t)part : UINT64_MAX;
}

/* What a table takes is split by a weight: ClickHouse does not say what single
 * rows take. */
static bool split_table(struct ch_store *s, const char *table,
                        const char *select, store_each_usage *each, void *arg,
                        bool *more, struct error *err)
{
    struct buf reply = BUF_INIT(STORE_BUF_BYTES);
    struct ch_request r = {.sql = str_from(select), .out = &reply};
    struct wire_reader at;
    struct share u;
    uint64_t bytes = 0;
    double weight = 0;
    bool ok = table_bytes(s, table, &bytes, err) &&
              ch_run(s->client, &r, err) == STORE_OK;

    at = unpack_begin(buf_str(&reply));
    while (ok && wire_more(&at) && read_share(&at, &u))
        weight += (double)u.weight;
    at = unpack_begin(buf_str(&reply));
    while (ok && *more && wire_more(&at) && read_share(&at, &u)) {
        struct store_usage out = {
            .service = u.service,
            .type = u.type,
            .profiles = u.type.n ? u.profiles : 0,
            .posted_bytes = u.posted,
            .stacks = u.type.n ? 0 : u.profiles,
            .names = u.type.n ? 0 : u.posted,
            .stored_bytes = part_of(bytes, u.weight, weight),
        };

        if (!u.type.n)
            out.posted_bytes = 0;
        *more = each(arg, &out);
    }
    buf_release(&reply);
    return ok;
}

enum store_status ch_usage(struct store *store, store_each_usage *each,
                           void *arg, struct error *err)
{
    struct ch_store *s = ch_of(store);
    enum store_status status = ch_prepare(s, err);
    bool more = true;

    if (status != STORE_OK)
        return status;
    if (split_table(s, "pprofd_profiles",
                    "SELECT service, type, uniqExact(id), sum(posted), "
                    "toUInt64(sum(200 + samples * (16 + 8 * length(totals)) + "
                    "length(blob))) FROM pprofd_profiles GROUP BY service, "
                    "type ORDER BY service, type FORMAT RowBinary",
                    each, arg, &more, err) &&
        split_table(s, "pprofd_sums",
                    "SELECT service, type, toUInt64(0), toUInt64(0), "
                    "toUInt64(sum(200 + length(stacks) * (8 + 8 * "
                    "length(totals)))) FROM pprofd_sums GROUP BY service, type "
                    "ORDER BY service, type FORMAT RowBinary",
                    each, arg, &more, err) &&
        split_table(s, "pprofd_records",
                    "SELECT service, '', countIf(kind = 8), countIf(kind = "
                    "0), toUInt64(sum(20 + 8 * length(refs) + "
                    "length(record))) FROM pprofd_records GROUP BY service "
                    "ORDER BY service FORMAT RowBinary",
                    each, arg, &more, err))
        return STORE_OK;
    return STORE_FAILED;
}
