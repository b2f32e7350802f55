#ifndef HTTP_SERVER_ADDRESS_H
#define HTTP_SERVER_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/error.h"

/*
 * Addresses to listen on, from text and to text.  The forms are those of
 * struct http_server_options.
 */

/* Room for any address printed: "unix:" and a socket's path. */
#define HTTP_ADDRESS_MAX 128

/* A listening, non-blocking socket; -1 on failure.  A socket file that
 * nobody answers at any more is replaced. */
int http_listen(const char *address, unsigned unix_mode, struct error *err);

/* Can the text be an address?  The error says what to write instead. */
bool http_address_check(const char *address, struct error *err);

/* Where a socket listens, or who is at the other end of it. */
void http_print_address(const struct sockaddr_storage *addr, char *out);
void http_listening_address(int fd, char *out);

/* Does the address reach no further than this machine? */
bool http_address_is_local(const char *address);

#endif
