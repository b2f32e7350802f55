/*
 * pprof: reads profiles, makes reports.  The work is in cmd/pprof/.
 */
#include "cmd/pprof/program.h"

int main(int argc, char **argv)
{
    return program_run(argc, argv);
}
