/*
 * Literals and conditions.
 */
#include "store/clickhouse/sql.h"

#include <inttypes.h>

#define DAY_NS (INT64_C(86400) * 1000000000)

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == '/' || c == ':';
}

void sql_text(struct buf *out, struct str text)
{
    size_t plain = 0;

    while (plain < text.n && is_plain(text.s[plain]))
        plain++;
    if (plain == text.n) {
        buf_addf(out, "'%" STR_FMT "'", STR_ARG(text));
        return;
    }
    buf_add(out, STR("unhex('"));
    for (size_t i = 0; i < text.n; i++)
        buf_addf(out, "%02X", (unsigned)(unsigned char)text.s[i]);
    buf_add(out, STR("')"));
}

bool sql_name(struct buf *out, struct str name)
{
    bool plain = true;

    for (size_t i = 0; i < name.n; i++) {
        bool other = str_find_char(STR("-.{}"), name.s[i]) >= 0;

        if (!other && name.s[i] != '_' && str_digit(name.s[i]) == 99)
            return false;
        plain = plain && !other;
    }
    buf_addf(out, plain ? "%" STR_FMT : "`%" STR_FMT "`", STR_ARG(name));
    return name.n > 0;
}

void sql_id(struct buf *out, const struct store_id *id)
{
    buf_add(out, STR("toFixedString(unhex('"));
    for (size_t i = 0; i < STORE_ID_BYTES; i++)
        buf_addf(out, "%02X", id->bytes[i]);
    buf_add(out, STR("'), 12)"));
}

/* Dates of ClickHouse reach from 1970 to 2106. */
uint16_t day_of(int64_t created_ns)
{
    int64_t day = created_ns / DAY_NS;

    if (created_ns < 0)
        return 0;
    return day > 49709 ? 49709 : (uint16_t)day;
}

void sql_day(struct buf *out, int64_t created_ns)
{
    buf_addf(out, "toDate(toUInt16(%u))", day_of(created_ns));
}

static void add_matcher(struct buf *out, const struct store_matcher *m)
{
    bool negative = m->op == STORE_NOT_EQUAL;

    switch (m->field) {
    case STORE_SERVICE:
    case STORE_TYPE:
        buf_addf(out, " AND %s %s ",
                 m->field == STORE_SERVICE ? "service" : "type",
                 negative ? "!=" : "=");
        sql_text(out, m->value);
        return;
    case STORE_LABEL:
        /* A key that is missing counts as "", and a key may come twice: any
         * of its values may do, or for != none may. */
        buf_addf(out, " AND %s(", negative ? "NOT " : "");
        if (m->value.n == 0) {
            buf_add(out, STR("NOT has(label_keys, "));
            sql_text(out, m->key);
            buf_add(out, STR(") OR "));
        }
        buf_add(out, STR("arrayExists((k, v) -> k = "));
        sql_text(out, m->key);
        buf_add(out, STR(" AND v = "));
        sql_text(out, m->value);
        buf_add(out, STR(", label_keys, label_values))"));
    }
}

static bool is_equality(const struct store_matcher *m)
{
    return m->op == STORE_EQUAL || m->op == STORE_NOT_EQUAL;
}

void sql_range(struct buf *out, int64_t from_ns, int64_t to_ns)
{
    buf_add(out, STR("day >= "));
    sql_day(out, from_ns);
    buf_add(out, STR(" AND day <= "));
    sql_day(out, to_ns);
    /* INT64_MIN itself is no literal. */
    buf_addf(out, " AND created >= %" PRIi64 " AND created <= %" PRIi64,
             from_ns < -INT64_MAX ? -INT64_MAX : from_ns, to_ns);
}

void sql_matchers(struct buf *out, const struct store_query *q)
{
    for (size_t i = 0; i < q->n_matchers; i++)
        if (is_equality(&q->matchers[i]))
            add_matcher(out, &q->matchers[i]);
}

bool sql_needs_series(const struct store_query *q)
{
    for (size_t i = 0; i < q->n_matchers; i++)
        if (!is_equality(&q->matchers[i]))
            return true;
    return false;
}
