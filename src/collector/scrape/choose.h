#ifndef COLLECTOR_SCRAPE_CHOOSE_H
#define COLLECTOR_SCRAPE_CHOOSE_H

#include "collector/scrape/scrape_config.h"

/*
 * What to fetch from a target whose job names no profiles: its index page
 * decides.
 *
 * These profiles are fetched if the page lists them: cpu, heap, mutex, block,
 * goroutine.  If the page lists godeltaprof's profiles, they are fetched
 * instead of the totals.  Totals without a single record (mutex and block
 * profiles that are not enabled) are skipped; the page is read again every two
 * minutes. wall, leak, fgprof and others cost more or tell less, and must be
 * configured by name.
 */
enum flavour {
    FLAVOUR_UNKNOWN, /* no index page */
    FLAVOUR_GO,
    FLAVOUR_OLD_GO,  /* before 1.11: no allocs profile */
    FLAVOUR_PPROF_C, /* our own */
    FLAVOUR_OTHER,
};

#define CHOSEN_MAX 8

struct chosen {
    enum flavour flavour;
    struct scrape_profile v[CHOSEN_MAX]; /* texts are constants */
    size_t n;
};

/* "" is a page that does not exist: cpu and heap are tried. */
void choose_profiles(const struct scrape_job *job, struct str page,
                     struct chosen *out);

/* "Go", "pprof-c" … */
const char *flavour_words(enum flavour f);

#endif
