/*
 * The one place where the parts that scrape are put together: limits from the
 * settings, discovery of Kubernetes pods, and profiles of this process.
 */
#include "cmd/pprofd/start_scraper.h"

#include <sys/resource.h>

#include "cmd/pprofd/kube_targets.h"
#include "cmd/pprofd/self_profile.h"

struct scrape_config *read_jobs(const char *config_file, struct error *err)
{
    return config_file ? scrape_config_read_file(config_file, err)
                       : scrape_config_new();
}

/* Every transfer is a file descriptor; the usual soft limit is 1024. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

struct scraper_options scraper_options_of(const struct settings *s)
{
    struct scraper_options o = scraper_default_options;

    o.max_transfers = s->scrape_transfers;
    o.max_measuring = s->scrape_measuring;
    o.max_measuring_per_host = s->scrape_per_host;
    o.memory_bytes = s->scrape_memory;
    o.max_targets = s->scrape_targets;
    o.make_kube = kube_targets_make;
    return o;
}

struct scraper *make_scraper(const struct settings *s, struct arena *a,
                             const char *config_file, struct sink_store *sink,
                             struct error *err)
{
    struct scrape_config *jobs = read_jobs(config_file, err);
    struct scraper_options o = scraper_options_of(s);

    if (!jobs)
        return NULL;
    raise_file_limit();
    o.deliver = sink_store_deliver;
    o.arg = sink;
    if (s->scrape_self) {
        o.self = self_profile_get;
        o.self_address = arena_cstr(a, s->address);
    }
    return scraper_new(&o, jobs, err);
}
