#ifndef PERF_CONVERT_H
#define PERF_CONVERT_H

#include "perf/perf_file.h"
#include "profile/profile.h"
#include "profile/read.h"

/*
 * A profile from the bytes of a perf.data file.
 *
 * Stacks come from the kernel's call chain (frame pointers), from the
 * processor's branch records (LBR) or from the copied stack memory (DWARF),
 * whichever was recorded.  The values are the number of samples and, for each
 * event, what was counted: nanoseconds for clocks.  Labels: comm, pid, tid.
 * Return addresses are moved back into the call.  Generated code has the names
 * that its runtime wrote, if these files are on this machine (jit.h).
 *
 * NULL with an error: the file cannot be read.
 */
struct profile *perf_convert(struct str bytes,
                             const struct profile_limits *limits,
                             struct error *err);

#endif
