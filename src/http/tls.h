#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * TLS 1.2 and 1.3 on a socket that somebody else owns: the socket stays
 * non-blocking, and is read and written without ever raising SIGPIPE.
 *
 * A tls_server has the certificate of a listener and reads it again when its
 * files change.  A client's certificate is asked for where a CA is given, and
 * not required: who has none is known to have none, who has a wrong one
 * (another CA, out of date, for servers only) does not get through the
 * handshake.
 */
struct tls_files {
    const char *cert, *key; /* PEM; the chain may follow the certificate */
    const char *client_ca;  /* PEM; NULL: no client is asked */
};

struct tls_server;

/* The names are copied.  An error names the file. */
struct tls_server *tls_server_new(const struct tls_files *files,
                                  struct error *err);
void tls_server_free(struct tls_server *s);

/*
 * Reads the files again if they have changed; looks at most once a second.
 * False, and words for a log, once for each change that cannot be used; the
 * certificate that was there is then used on.
 */
bool tls_server_refresh(struct tls_server *s, struct error *err);

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

bool tls_has_input(struct tls *t); /* read off the socket, not yet asked for */
void tls_say_goodbye(struct tls *t);

/*
 * The names in the certificate that the client has shown and the CA has
 * signed, each with a NUL behind it: "CN:…", "DNS:…", "EMAIL:…", "URI:…",
 * "IP:…" (as hex digits).  False: it has shown none.
 */
bool tls_client_names(struct tls *t, struct buf *out);

/*
 * The client's end: trusts the CAs of a file, and wants a certificate for the
 * name, which may be an IP address.
 */
struct tls *tls_connect(int fd, const char *ca_file, const char *name,
                        struct error *err);

/* Why it is over: "certificate verify failed". */
const char *tls_reason(const struct tls *t);

#endif
