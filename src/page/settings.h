#ifndef PAGE_SETTINGS_H
#define PAGE_SETTINGS_H

#include "base/json.h"
#include "page/request.h"

/*
 * Configurations that the user saved under a name, in google/pprof's file:
 *
 *     {"configs": [{"name": "mine", "focus": "parse", "trim": true …}]}
 *
 * A value that is missing there is zero, not the default.  The file is
 * written whole or not at all.
 */

/* Saves q->config under the word `config`. */
bool settings_save(struct page_request *q, struct error *err);

/* Forgets the configuration that the word `config` names. */
bool settings_delete(struct page_request *q, struct error *err);

/* The query that makes a configuration: "?f=main&trim=f", "?" for the
 * default.  From `a`. */
struct str settings_query(struct arena *a, const struct report_config *c);

/*
 * Appends "configs": [{name, url, current, user}]: the default and those
 * that are saved, with the query that each makes of the request's.
 */
void settings_add_menu(struct json *j, struct page_request *q);

#endif
