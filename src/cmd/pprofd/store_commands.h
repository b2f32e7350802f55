#ifndef CMD_PPROFD_STORE_COMMANDS_H
#define CMD_PPROFD_STORE_COMMANDS_H

/*
 * Commands on a store that no pprofd has open.  Each returns the exit code.
 */
int check_command(int argc, char **argv);  /* pprofd check */
int stats_command(int argc, char **argv);  /* pprofd stats */
int schema_command(int argc, char **argv); /* pprofd schema */
int export_command(int argc, char **argv); /* pprofd export DIR|s3:… */
int import_command(int argc, char **argv); /* pprofd import DIR|URL … */

#endif
