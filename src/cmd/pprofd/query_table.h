#ifndef CMD_PPROFD_QUERY_TABLE_H
#define CMD_PPROFD_QUERY_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

/*
 * Replies of the collector's API (docs/collector-api.md) as tables for people.
 * Each appends lines to `out`; false if the reply is not of that kind.
 */
typedef bool query_table(struct arena *a, struct str reply, struct buf *out,
                         struct error *err);

query_table query_table_services;
query_table query_table_labels;
query_table query_table_profiles;
query_table query_table_series;
query_table query_table_function;
query_table query_table_top;

/* The words of an error reply; "" if it is none. */
struct str query_error_words(struct arena *a, struct str reply);

#endif
