#ifndef CMD_PPROFD_CONFIG_COMMAND_H
#define CMD_PPROFD_CONFIG_COMMAND_H

/* pprofd config: prints the settings that `serve` would use with the same
 * flags, as a configuration file.  The exit code: 1 if they are wrong. */
int config_command(int argc, char **argv);

#endif
