#ifndef CMD_PPROFD_QUERY_COMMAND_H
#define CMD_PPROFD_QUERY_COMMAND_H

/* pprofd query: asks a store what the API answers, without a server.  Returns
 * the exit code. */
int query_command(int argc, char **argv);

#endif
