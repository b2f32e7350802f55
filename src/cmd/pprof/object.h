#ifndef CMD_PPROF_OBJECT_H
#define CMD_PPROF_OBJECT_H

#include <stdbool.h>

/*
 * Is there a program or library of this name (ELF, Mach-O, PE)?  Decides
 * whether the first word of the command line is the profiled program.
 */
bool object_file_can_open(const char *path);

#endif
