#ifndef CMD_KUBECTL_PPROF_HELP_H
#define CMD_KUBECTL_PPROF_HELP_H

/* What `kubectl pprof --help` prints: a screen of 24 lines. */
extern const char help_text[];

#endif
