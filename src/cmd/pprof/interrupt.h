#ifndef CMD_PPROF_INTERRUPT_H
#define CMD_PPROF_INTERRUPT_H

#include <stdbool.h>

/*
 * Ctrl-C at the shell is recorded instead of ending the program.
 */
void interrupt_catch(void);

/* Returns true if there was one since the last call. */
bool interrupt_take(void);

/* Waits until fd can be read.  False if a Ctrl-C came first, or before. */
bool interrupt_wait_readable(int fd);

#endif
