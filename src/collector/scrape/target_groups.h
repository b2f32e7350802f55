#ifndef COLLECTOR_SCRAPE_TARGET_GROUPS_H
#define COLLECTOR_SCRAPE_TARGET_GROUPS_H

#include "base/arena.h"
#include "base/error.h"
#include "collector/scrape/scrape_targets.h"
#include "config/limits.h"
#include "config/node.h"

/*
 * Lists of targets as static_configs, files and web servers give them:
 *
 *     - targets: ['10.0.0.1:6060', '10.0.0.2:6060']
 *       labels: {region: eu}
 */
#define TARGET_GROUPS_MAX 100000 /* targets in one list */

/* Appends the targets of the list, each a set with __address__ and the
 * labels.  Texts are views of the document; room comes from `a`. */
bool target_groups_read(struct scrape_targets *out, struct arena *a,
                        const struct node *list, struct error *err);

/* For lists from files and web servers. */
extern const struct document_limits target_groups_limits;

#endif
