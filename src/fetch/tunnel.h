#ifndef FETCH_TUNNEL_H
#define FETCH_TUNNEL_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * A port on another machine's loopback as a Unix socket here, through the
 * user's ssh with the user's keys, agent and configuration ("ssh -L").
 */
struct tunnel {
    pid_t ssh;
    const char *dir;    /* our own, which only the user may enter */
    const char *socket; /* in it */
};

/*
 * login is [user@]host[:ssh-port].  Waits until the tunnel is open or ssh gives
 * up; ssh may ask for a password meanwhile.  Names come from `a`.
 */
bool tunnel_open(struct tunnel *t, struct arena *a, struct str login,
                 unsigned port, struct error *err);

/* Ends ssh and removes the socket. */
void tunnel_close(struct tunnel *t);

#endif
