#ifndef COLLECTOR_SCRAPE_HOSTS_H
#define COLLECTOR_SCRAPE_HOSTS_H

#include <stddef.h>

#include "base/str.h"

/*
 * The hosts of the targets, each with how many profiles are measured there
 * now.  A host lives as long as a target names it.
 */
struct host {
    struct host *next; /* of its bucket */
    size_t measuring;
    size_t users;
    size_t n; /* bytes of name */
    char name[];
};

#define HOSTS_BUCKETS 4096

struct hosts {
    struct host *buckets[HOSTS_BUCKETS];
};

/* Adds a user; NULL: out of memory. */
struct host *hosts_get(struct hosts *h, struct str name);
void hosts_put(struct hosts *h, struct host *host);

#endif
