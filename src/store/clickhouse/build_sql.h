#ifndef STORE_CLICKHOUSE_BUILD_SQL_H
#define STORE_CLICKHOUSE_BUILD_SQL_H

#include "store/options.h"

/*
 * The statement with which ClickHouse sums up a part of a day.
 */
struct build_part {
    unsigned day, level;
    uint64_t build;
    struct str types;     /* " AND (service, type) IN (…)", or "" */
    unsigned part, parts; /* series are divided among so many statements */
    bool once;            /* some profile is there twice */
    bool is_wide;         /* the profiles with more than four sample types */
    bool has_cumulative;  /* some types count from the start of a process */
};

void build_sql(const struct build_part *b, struct buf *out);

#endif
