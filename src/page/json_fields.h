#ifndef PAGE_JSON_FIELDS_H
#define PAGE_JSON_FIELDS_H

#include "base/json.h"
#include "report/context.h"
#include "report/header.h"

/*
 * Members of JSON objects as the page's replies have them: numbers, and the
 * texts that reports print for them.
 */
void json_add_text(struct json *j, const char *key, struct str value);
void json_add_i64(struct json *j, const char *key, int64_t value);
void json_add_bool(struct json *j, const char *key, bool value);
void json_add_address(struct json *j, const char *key, uint64_t address);

/* "key": the value as the report prints it. */
void json_add_value_text(struct json *j, const char *key,
                         const struct report *r, int64_t value);

/* "key": its share of the total as reports print it, "12.34%". */
void json_add_percent_text(struct json *j, const char *key,
                           const struct report *r, int64_t value);

/* flat, cum, and flat_text, cum_text as the report prints them. */
void json_add_costs(struct json *j, const struct report *r, int64_t flat,
                    int64_t cum);

/* What turns a value of the profile into seconds, bytes or GCU, and the name
 * of that unit; 1 and "" for all others. */
void json_add_scale(struct json *j, const char *scale_key, const char *unit_key,
                    const struct report *r);

/* "key": [the lines of a text]. */
void json_add_lines(struct json *j, const char *key, struct str text);

/* "legend": the lines above the report, "warnings": its warnings. */
void json_add_legend(struct json *j, const struct report *r,
                     const struct header_counts *counts);

/* The same of a report that is no graph: only what describes the profile. */
void json_add_profile_legend(struct json *j, const struct report *r);

#endif
