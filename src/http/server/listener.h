#ifndef HTTP_SERVER_LISTENER_H
#define HTTP_SERVER_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/server/address.h"

/*
 * A listening address, with two queues of new connections: one for known
 * addresses (http/server/peers.h) and one for everybody else.
 *
 * The kernel drops a connection attempt when the queue is full, and the client
 * tries again after a second: too late for a probe.  A flood of connections
 * fills only the queue for unknown addresses.
 *
 * Unix sockets, and kernels that cannot sort connections, have one queue.
 */
enum listener_queue {
    QUEUE_STRANGERS,
    QUEUE_KNOWN,
    N_QUEUES,
};

/* Known addresses beyond this number use the queue for unknown ones. */
#define LISTENER_KNOWN_MAX 128

struct tls_server;

struct listener {
    struct {
        int fd; /* non-blocking; -1: there is none */
        bool is_ready;
    } queue[N_QUEUES];
    char address[HTTP_ADDRESS_MAX];
    struct tls_server *tls; /* NULL: plain */
};

/* Opens the queues; the error names the address. */
bool listener_open(struct listener *l, const char *address, unsigned unix_mode,
                   struct error *err);

/* Closes what is open, and removes the file of a Unix socket. */
void listener_close(struct listener *l);

/* Closes the descriptors only: in a forked child. */
void listener_abandon(struct listener *l);

/* Somebody else has closed the descriptors. */
void listener_lose(struct listener *l);

/*
 * Sends new connections from these addresses to the queue of known ones.  An
 * IPv4 address is written ::ffff:a.b.c.d; another one stands for its /64
 * network.  False: the kernel refused, and the previous addresses stay in
 * effect.
 */
bool listener_set_known(struct listener *l, const struct in6_addr *known,
                        size_t n);

#endif
