#ifndef COLLECTOR_SCRAPE_SCRAPE_TARGETS_H
#define COLLECTOR_SCRAPE_SCRAPE_TARGETS_H

#include "base/label_set.h"
#include "base/vec.h"

/* Targets with their labels: what discovery gives. */
struct scrape_targets {
    VEC(struct label_set) list;
};

#endif
