#ifndef CMD_PPROFD_SERVE_H
#define CMD_PPROFD_SERVE_H

/* pprofd serve: collects and serves profiles until SIGINT or SIGTERM.  The
 * exit code. */
int serve_command(int argc, char **argv);

#endif
