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

/* A listening, non-blocking socket, kept (own_fd.h); -1 on failure.  A stale
 * socket file is replaced. */
int http_listen(const char *address, unsigned unix_mode, struct error *err);

/* Returns true if the text can be an address.  The error says what to write
 * instead. */
bool http_address_check(const char *address, struct error *err);

/* The address on which a socket listens, or that of its peer. */
void http_print_address(const struct sockaddr_storage *addr, char *out);
void http_listening_address(int fd, char *out);

/* Returns true if only this machine can reach the address. */
bool http_address_is_local(const char *address);

#endif
