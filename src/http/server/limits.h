#ifndef HTTP_SERVER_LIMITS_H
#define HTTP_SERVER_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define HTTP_LISTENERS_MAX 8 /* addresses that a server listens on */

/*
 * The limits of one server.  Start from http_default_limits and change what
 * you need; every member can be set.
 */
struct http_limits {
    unsigned connections;
    unsigned workers;   /* requests that are handled at a time */
    size_t head_bytes;  /* request line and headers: 431 beyond */
    size_t body_bytes;  /* of one request, unless admission says otherwise:
                           413 beyond */
    size_t reply_bytes; /* of one reply: 500 beyond */

    /*
     * Memory of all connections together.  A request that would need more gets
     * 503 and Retry-After; when the memory for requests is used up, the body
     * that has held the most memory for the longest time is refused first.
     */
    size_t request_memory_bytes; /* heads and bodies being received: more than
                                    1.5 times the largest body */
    size_t reply_memory_bytes;   /* replies waiting to be sent */

    int64_t head_timeout_ns; /* from the first byte to the blank line */
    /* A body may take this long, plus a second per body_rate_bytes that have
     * arrived: a sender that makes progress is not cut off. */
    int64_t body_timeout_ns;
    size_t body_rate_bytes;
    int64_t idle_timeout_ns;  /* a connection between requests */
    int64_t write_timeout_ns; /* without any progress */

    unsigned requests; /* of one client address, per minute; 0: no limit */
    /*
     * Percent of one CPU for reading and answering, and the same again for
     * handlers; requests that come faster wait.  0: no limit.
     */
    unsigned cpu_percent;
};

extern const struct http_limits http_default_limits;

#endif
