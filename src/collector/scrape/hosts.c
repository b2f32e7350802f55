#include "collector/scrape/hosts.h"

#include <stdlib.h>

static struct host **bucket_of(struct hosts *h, struct str name)
{
    return &h->buckets[str_hash(name) % HOSTS_BUCKETS];
}

struct host *hosts_get(struct hosts *h, struct str name)
{
    struct host **bucket = bucket_of(h, name), *host;

    for (host = *bucket; host; host = host->next)
        if (str_eq(str_of(host->name, host->n), name)) {
            host->users++;
            return host;
        }
    host = calloc(1, sizeof(*host) + name.n);
    if (!host)
        return NULL;
    host->users = 1;
    host->n = name.n;
    if (name.n)
        memcpy(host->name, name.s, name.n);
    host->next = *bucket;
    *bucket = host;
    return host;
}

void hosts_put(struct hosts *h, struct host *host)
{
    struct host **at;

    if (!host || --host->users > 0)
        return;
    at = bucket_of(h, str_of(host->name, host->n));
    while (*at != host)
        at = &(*at)->next;
    *at = host->next;
    free(host);
}
