#ifndef STORE_CLICKHOUSE_SQL_H
#define STORE_CLICKHOUSE_SQL_H

#include "store/store.h"

/*
 * Text for ClickHouse.  Whatever comes from outside passes through
 * sql_text() or sql_name(); nothing else may be put between quotes.
 */

/* A string literal.  Texts with anything but letters, digits and a few marks
 * are written as hexadecimal digits, so there is nothing to escape. */
void sql_text(struct buf *out, struct str text);

/* An identifier that the user chose, in backquotes unless it is plain.  False
 * if it has other characters than letters, digits and "_-.{}". */
bool sql_name(struct buf *out, struct str name);

/* The id as a literal of its type. */
void sql_id(struct buf *out, const struct store_id *id);

/* "toDate(…)" of the day of a time, as it is stored. */
void sql_day(struct buf *out, int64_t created_ns);
uint16_t day_of(int64_t created_ns);

/*
 * The condition for a selection, without WHERE: the range, then each matcher
 * that asks for equality behind an AND.  Expressions are evaluated by us,
 * because their syntax must be the same for every engine.
 */
void sql_range(struct buf *out, int64_t from_ns, int64_t to_ns);
void sql_matchers(struct buf *out, const struct store_query *q);

/* Returns true if it has matchers that SQL does not cover. */
bool sql_needs_series(const struct store_query *q);

#endif
