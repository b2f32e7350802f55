#ifndef COLLECTOR_SCRAPE_DISCOVERIES_H
#define COLLECTOR_SCRAPE_DISCOVERIES_H

#include "collector/scrape/discovery.h"
#include "collector/scrape/scrape_config.h"

/*
 * The discoveries by files, DNS and HTTP.  Each has a thread that refreshes its
 * targets; when that fails, the last ones remain.  The configuration must
 * outlive them.
 */
bool discovery_of_files(const struct keys_file_sd *config,
                        struct discovery *out, struct error *err);
bool discovery_of_names(const struct keys_dns_sd *config, struct discovery *out,
                        struct error *err);
bool discovery_of_url(const struct keys_http_sd *config,
                      const struct scrape_access *access, struct discovery *out,
                      struct error *err);

#endif
