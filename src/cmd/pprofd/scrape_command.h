#ifndef CMD_PPROFD_SCRAPE_COMMAND_H
#define CMD_PPROFD_SCRAPE_COMMAND_H

/* pprofd scrape: fetches every profile of every target once and writes it to
 * a directory or posts it to a collector.  The exit code: 1 if one failed, 2
 * if the command line or the configuration is wrong. */
int scrape_command(int argc, char **argv);

#endif
