/*
 * Sums in SQL: a row for each series, header, image and step, in the form of
 * a profile.
 *
 * The statement joins two queries.  One adds up descriptions.  The other adds
 * up samples by stack and labels, then gathers them into arrays.  Its samples
 * are those of the profiles and, for cumulative types, what makes up the
 * changes: within a series, each profile counts once and the one before it
 * minus once, unless the process has started anew.  Over a step nearly all of
 * these cancel each other, so they are added up by profile first.
 */
#include "store/clickhouse/build_sql.h"

#include <inttypes.h>

#include "store/retention.h"

enum { PLAIN_COLUMNS = 4 };

static void add_step(const struct build_part *b, const char *time,
                     struct buf *out)
{
    int64_t step = level_ns[b->level];

    buf_addf(out,
             "toInt64(%s - (%s %% %" PRIi64 " + %" PRIi64 ") %% %" PRIi64 ")",
             time, time, step, step, step);
}

/* "(SELECT columns FROM pprofd_profiles WHERE …)" from some days before on. */
static void add_rows(const struct build_part *b, unsigned before,
                     const char *columns, const char *more, struct buf *out)
{
    unsigned from = b->day < before ? 0 : b->day - before;

    buf_addf(
        out,
        "(SELECT %s FROM pprofd_profiles WHERE day >= "
        "toDate(toUInt16(%u)) AND day <= toDate(toUInt16(%u)) AND flags "
        "= 0 AND length(totals) %s %d AND series %% %u = %u%s%" STR_FMT "%s)",
        columns, from, b->day, b->is_wide ? ">" : "<=", PLAIN_COLUMNS, b->parts,
        b->part, more, STR_ARG(b->types), b->once ? " LIMIT 1 BY id" : "");
}

static void add_list(struct buf *out, const char *format)
{
    for (int i = 0; i < PLAIN_COLUMNS; i++)
        for (const char *at = format; *at; at++)
            if (*at == '#')
                buf_add_char(out, (char)('0' + i));
            else
                buf_add_char(out, *at);
}

static void add_descriptions(const struct build_part *b, struct buf *out)
{
    buf_add(out, STR("(SELECT series, header, image, "));
    add_step(b, "created", out);
    buf_add(
        out,
        STR(" AS step, any(service) AS d_service, any(type) AS "
            "d_type, min(id) AS d_id, any(label_keys) AS d_keys, "
            "any(label_values) AS d_values, any(cumulative) AS "
            "d_cumulative, minIf(time, time != 0) AS d_time, sum(duration) AS "
            "d_duration, max(period) AS d_period, sum(posted) AS "
            "d_posted, sumForEach(totals) AS d_totals, count() AS "
            "d_profiles FROM "));
    add_rows(b, 0,
             "id, service, type, label_keys, label_values, series, header, "
             "image, cumulative, created, time, duration, period, posted, "
             "totals",
             "", out);
    buf_add(out, STR(" GROUP BY series, header, image, step)"));
}

/* --- samples -------------------------------------------------------------- */

/* As they were sent.  What a wide profile has besides the first four values
 * of a sample comes as an array.  (18.16 overlooks columns that only the body
 * of a lambda names, unless they are the whole body.) */
static void add_sent(const struct build_part *b, struct buf *out)
{
    buf_add(out, STR("SELECT series, header, image, "));
    add_step(b, "created", out);
    buf_add(out, STR(" AS step, s, l, length(totals) AS n, cumulative AS c"));
    add_list(out, ", a#");
    add_list(out, ", toInt64(0) AS b#");
    if (b->is_wide)
        buf_add(out, STR(", m"));
    buf_add(out, STR(" FROM "));
    add_rows(b, 0,
             b->is_wide
                 ? "id, series, header, image, created, totals, cumulative, "
                   "stacks, labels, v0, v1, v2, v3, arrayMap((i, m, q) -> "
                   "arraySlice(m, (i - 1) * intDiv(length(m), length(q)) + 1, "
                   "intDiv(length(m), length(q))), arrayEnumerate(stacks), "
                   "arrayMap(x -> more, stacks), arrayMap(x -> stacks, "
                   "stacks)) AS rest"
                 : "id, series, header, image, created, totals, cumulative, "
                   "stacks, labels, v0, v1, v2, v3",
             "", out);
    buf_add(out, STR(" ARRAY JOIN stacks AS s, arrayResize(labels, "
                     "length(stacks)) AS l"));
    add_list(out, ", arrayResize(v#, length(stacks)) AS a#");
    if (b->is_wide)
        buf_add(out, STR(", rest AS m"));
}

/* Neighbours of a series: profiles b of the day and the a before each. */
static void add_pairs(const struct build_part *b, struct buf *out)
{
    buf_addf(out,
             "(SELECT tupleElement(a, 2) AS id_a, tupleElement(b, 2) AS id_b, "
             "tupleElement(b, 1) AS created_b, tupleElement(b, 3) AS h, "
             "tupleElement(b, 4) AS i, tupleElement(b, 6) AS c, "
             "tupleElement(a, 5) AS totals_a, tupleElement(b, 5) AS totals_b "
             "FROM (SELECT arraySort(groupArray((created, id, header, image, "
             "totals, cumulative))) AS p FROM ");
    add_rows(b, 1, "created, id, series, header, image, totals, cumulative",
             " AND cumulative != 0", out);
    buf_addf(out,
             " GROUP BY series) ARRAY JOIN arrayPopBack(p) AS a, "
             "arrayPopFront(p) AS b WHERE created_b >= %" PRIi64
             " AND length(totals_a) = length(totals_b))",
             (int64_t)b->day * level_ns[STORE_DAY]);
}

/* How often each profile counts, in which sum. */
static void add_weights(const struct build_part *b, struct buf *out)
{
    buf_add(out, STR("(SELECT tupleElement(e, 1) AS id, step, h, i, c, "
                     "sum(tupleElement(e, 2)) AS w FROM (SELECT "));
    add_step(b, "created_b", out);
    buf_add(out, STR(" AS step, h, i, c, arrayJoin([(id_b, toInt64(1)), (id_a, "
                     "toInt64(if(arrayExists((k, x, y) -> y < x AND "
                     "bitAnd(bitShiftRight(c, k - 1), 1) != 0, "
                     "arrayEnumerate(totals_b), totals_a, totals_b), 0, "
                     "-1)))]) AS e FROM "));
    add_pairs(b, out);
    buf_add(out, STR(") GROUP BY id, step, h, i, c HAVING w != 0)"));
}

static void add_changes(const struct build_part *b, struct buf *out)
{
    buf_add(out, STR("SELECT series, h AS header, i AS image, step, s, l, n, "
                     "c"));
    add_list(out, ", toInt64(0) AS a#");
    add_list(out, ", toInt64(x# * w) AS b#");
    buf_add(out, STR(" FROM (SELECT series, h, i, step, n, c, w, stacks, "
                     "labels, v0, v1, v2, v3 FROM "));
    add_rows(b, 1,
             "id, series, length(totals) AS n, stacks, labels, v0, v1, v2, v3",
             " AND cumulative != 0", out);
    buf_add(out, STR(" AS r ALL INNER JOIN "));
    add_weights(b, out);
    buf_add(out,
            STR(" AS k USING (id)) ARRAY JOIN stacks AS s, arrayResize(labels, "
                "length(stacks)) AS l"));
    add_list(out, ", arrayResize(v#, length(stacks)) AS x#");
}

static void add_samples(const struct build_part *b, struct buf *out)
{
    bool with_changes = b->has_cumulative && !b->is_wide;

    buf_add(out, STR("(SELECT series, header, image, step, groupArray(s) AS "
                     "g_stacks, if(max(l) = 0, emptyArrayUInt64(), "
                     "groupArray(l)) AS g_labels"));
    add_list(out, ", arrayResize(groupArray(x#), if(max(t) > #, count(), 0)) "
                  "AS g_v#");
    add_list(out,
             ", arrayResize(groupArray(y#), if(bitAnd(bitShiftRight(max(u), "
             "#), 1) != 0, count(), 0)) AS g_c#");
    buf_add(out, STR(", arrayResize([sum(y0), sum(y1), sum(y2), sum(y3)], "
                     "max(t)) AS g_changes, "));
    buf_add(out,
            b->is_wide ? STR("groupArrayArray(o)") : STR("emptyArrayInt64()"));
    buf_add(out, STR(" AS g_more FROM (SELECT series, header, image, step, s, "
                     "l, max(n) AS t, max(c) AS u"));
    add_list(out, ", sum(a#) AS x#");
    add_list(out, ", sum(b#) AS y#");
    if (b->is_wide)
        buf_add(out, STR(", sumForEach(m) AS o"));
    buf_add(out, STR(" FROM ("));
    add_sent(b, out);
    if (with_changes) {
        buf_add(out, STR(" UNION ALL "));
        add_changes(b, out);
    }
    buf_add(out, STR(") GROUP BY series, header, image, step, s, l) GROUP BY "
                     "series, header, image, step)"));
}

void build_sql(const struct build_part *b, struct buf *out)
{
    buf_addf(out,
             "INSERT INTO pprofd_sums (level, build, day, service, type, "
             "created, id, series, label_keys, label_values, header, "
             "cumulative, image, flags, time, duration, period, posted, "
             "samples, totals, profiles, changes, stacks, labels, v0, v1, v2, "
             "v3, more, c0, c1, c2, c3) SELECT toUInt8(%u), toUInt64(%" PRIu64
             "), toDate(toUInt16(%u)), d_service, d_type, step, d_id, series, "
             "d_keys, d_values, header, d_cumulative, image, toUInt64(0), "
             "d_time, d_duration, d_period, d_posted, "
             "toUInt64(length(g_stacks)), d_totals, d_profiles, g_changes, "
             "g_stacks, g_labels, g_v0, g_v1, g_v2, g_v3, g_more, g_c0, g_c1, "
             "g_c2, g_c3 FROM ",
             b->level, b->build, b->day);
    add_descriptions(b, out);
    buf_add(out, STR(" AS d ANY LEFT JOIN "));
    add_samples(b, out);
    buf_add(out, STR(" AS g USING (series, header, image, step)"));
}
