/*
 * Limits that suit a server on a machine of its own.  What runs inside other
 * people's programs sets tighter ones.
 */
#include "http/server/limits.h"

#include "base/clock.h"

const struct http_limits http_default_limits = {
    .connections = 256,
    .workers = 16,
    .head_bytes = (size_t)16 << 10,
    .body_bytes = (size_t)1 << 20,
    .reply_bytes = (size_t)1 << 30,
    .request_memory_bytes = (size_t)256 << 20,
    .reply_memory_bytes = (size_t)2 << 30,
    .head_timeout_ns = 10 * SECOND,
    .body_timeout_ns = 30 * SECOND,
    .body_rate_bytes = 4096,
    .idle_timeout_ns = 60 * SECOND,
    .write_timeout_ns = 30 * SECOND,
};
