#ifndef CMD_PPROF_SAVE_H
#define CMD_PPROF_SAVE_H

#include "profile/profile.h"

/*
 * Keeps a copy of a profile that came over the network, in $PPROF_TMPDIR,
 * $HOME/pprof or the directory for temporary files, under a name made of
 * program and sample types: pprof.app.samples.cpu.001.pb.gz.  Says where, or
 * why not.
 */
void save_copy(const struct profile *p);

#endif
