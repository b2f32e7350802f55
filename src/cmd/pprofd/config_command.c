/*
 * The output is a valid configuration file, so that it can be the start of
 * one, and a check of one that exists: pprofd config --config FILE.
 */
#include "cmd/pprofd/config_command.h"

#include <stdio.h>

#include "cmd/pprofd/settings.h"
#include "cmd/pprofd/start_scraper.h"

int config_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct buf out = arena_buf(a);
    struct settings settings;
    struct error err;
    int rest;
    struct scrape_config *jobs = NULL;
    bool ok = settings_read(&settings, a, argv, argc, &rest, &err) &&
              (jobs = read_jobs(settings_file_name(argv, argc), &err)) != NULL;

    if (ok) {
        settings_write(&settings, &out);
        fwrite(out.data, 1, out.len, stdout);
    } else {
        fprintf(stderr, "pprofd: %s\n", err.text);
    }
    scrape_config_free(jobs);
    arena_free(a);
    return ok ? 0 : 1;
}
