#ifndef FETCH_TUNNEL_H
#define FETCH_TUNNEL_H

#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/*
 * A byte stream to a port on another machine's loopback, through the user's
 * ssh with the user's keys, agent and configuration ("ssh -W").
 */
struct tunnel {
    int fd; /* the stream; whoever takes it over sets it to -1 */
    pid_t ssh;
};

/* login is [user@]host[:ssh-port]. */
bool tunnel_open(struct tunnel *t, struct str login, unsigned port,
                 struct error *err);

/* Closes the stream (if it is still ours) and ends ssh.  Its exit code, or
 * -1 when it had to be ended. */
int tunnel_close(struct tunnel *t);

#endif
