#ifndef CMD_KUBECTL_PPROF_INSTALL_PRELOAD_H
#define CMD_KUBECTL_PPROF_INSTALL_PRELOAD_H

#include "cmd/kubectl-pprof/session.h"

/* `install-preload DIR`: copies libpprof-preload.so and, if it exists,
 * libpprof-symbol.so into DIR.  The init container of `enable --native` runs
 * it; its image need not have cp. */
int install_preload(struct session *s);

#endif
