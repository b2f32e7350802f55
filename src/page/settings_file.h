#ifndef PAGE_SETTINGS_FILE_H
#define PAGE_SETTINGS_FILE_H

#include "base/vec.h"
#include "report/config.h"

/* What is in the file of settings.h. */
#define SETTINGS_MAX_BYTES ((size_t)1 << 20)

struct named_config {
    struct str name;
    struct report_config config;
};

struct settings {
    VEC(struct named_config) configs;
};

/* A file that does not exist is one without configurations.  Memory from
 * `a`. */
bool settings_read(struct settings *s, struct arena *a, const char *path,
                   struct error *err);

#endif
