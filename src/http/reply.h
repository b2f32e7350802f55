#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "http/message.h"

/*
 * A server's reply, as far as a client of JSON APIs needs it: the status, and
 * the body that Content-Length or chunks say is whole.
 *
 * Works on all the bytes that came so far.  COMPLETE: the body is
 * bytes[*body_at .. + *body_n) (chunks are unpacked in place).
 * `ended` says that the server has closed, in good order: then a body without
 * a length is complete.
 */
enum http_parsed http_parse_reply(char *bytes, size_t n, size_t max_body,
                                  bool ended, int *status, size_t *body_at,
                                  size_t *body_n);

#endif
