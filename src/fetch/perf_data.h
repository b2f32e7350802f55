#ifndef FETCH_PERF_DATA_H
#define FETCH_PERF_DATA_H

#include "base/error.h"
#include "profile/profile.h"
#include "profile/read.h"

/*
 * Files of Linux' perf record.
 */

/* Does the file start like one? */
bool perf_data_detect(const char *path);

struct profile *perf_data_read(const char *path,
                               const struct profile_limits *limits,
                               struct error *err);

#endif
