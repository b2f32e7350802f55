#ifndef CMD_PPROFD_KUBE_TARGETS_H
#define CMD_PPROFD_KUBE_TARGETS_H

#include "collector/scrape/discovery.h"
#include "collector/scrape/scrape_config.h"

/*
 * The pods that a kubernetes_sd_config of a job describes, as a discovery of
 * the scraper.  False and *err: the configuration cannot be used.  If the API
 * server cannot be reached, the discovery reports that later.
 */
bool kube_targets_make(const struct scrape_job *job,
                       const struct scrape_kube *config, struct discovery *out,
                       struct error *err);

#endif
