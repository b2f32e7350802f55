#ifndef HTTP_TLS_TLS_H
#define HTTP_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "http/tls/tls_context.h"
#include "http/tls/tls_server.h"

/*
 * TLS 1.2 and 1.3 on a socket that the caller owns: the socket stays
 * non-blocking, and is read and written without ever raising SIGPIPE.
 */

/* One connection.  Belongs to one thread at a time. */
struct tls;

enum tls_wants { TLS_WANTS_READ, TLS_WANTS_WRITE };

struct tls *tls_accept(struct tls_server *s, int fd); /* NULL: no memory */
void tls_free(struct tls *t);                         /* not the socket */

/* Like recv and send, with the handshake in them.  -1 and EAGAIN: again when
 * the socket is ready for what tls_wants() says; another errno: it is over. */
ssize_t tls_read(struct tls *t, void *to, size_t n);
ssize_t tls_write(struct tls *t, const void *from, size_t n);
enum tls_wants tls_wants(const struct tls *t);

bool tls_is_established(const struct tls *t); /* the handshake is over */
bool tls_has_input(struct tls *t); /* read off the socket, not yet asked for */
void tls_say_goodbye(struct tls *t);

/*
 * The names in the client's verified certificate, each followed by a NUL:
 * "CN:…", "DNS:…", "EMAIL:…", "URI:…", "IP:…" (as hex digits).  False: the
 * client has sent none.
 */
bool tls_client_names(struct tls *t, struct buf *out);

/*
 * The client's end: requires a server certificate for the name, which may be an
 * IP address, signed by a trusted CA.
 */
struct tls *tls_connect(int fd, const struct tls_client_files *files,
                        const char *name, struct error *err);

/* Why the connection ended: "certificate verify failed". */
const char *tls_reason(const struct tls *t);

#endif
