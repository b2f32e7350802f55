#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

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

/* Where a socket listens, or who is at the other end of it. */
void http_print_address(const struct sockaddr_storage *addr, char *out);
void http_listening_address(int fd, char *out);

#endif
