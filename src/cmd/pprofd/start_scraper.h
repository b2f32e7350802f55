#ifndef CMD_PPROFD_START_SCRAPER_H
#define CMD_PPROFD_START_SCRAPER_H

#include "cmd/pprofd/settings.h"
#include "collector/scrape/scraper.h"
#include "collector/scrape/sink_store.h"

/*
 * From settings to a scraper.
 */

/* The jobs of a configuration file; none if there is no file. */
struct scrape_config *read_jobs(const char *config_file, struct error *err);

/* The limits that the settings give, and what this program can discover. */
struct scraper_options scraper_options_of(const struct settings *s);

/* A scraper that puts profiles into the sink's store.  NULL and *err: the
 * jobs cannot be used. */
struct scraper *make_scraper(const struct settings *s, struct arena *a,
                             const char *config_file, struct sink_store *sink,
                             struct error *err);

#endif
