#ifndef CMD_PPROF_SAVE_H
#define CMD_PPROF_SAVE_H

#include "profile/profile.h"

/*
 * Saves a copy of a profile that was fetched over the network, in
 * $PPROF_TMPDIR, $HOME/pprof or the directory for temporary files, named after
 * the program and the sample types: pprof.app.samples.cpu.001.pb.gz.  Reports
 * the file name, or why it failed.
 */
void save_copy(const struct profile *p);

#endif
