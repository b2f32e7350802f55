#ifndef BASE_SIZE_TEXT_H
#define BASE_SIZE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Sizes as flags and configuration files write them: "512", "64KB",
 * "1.5GiB".  K, M, G and T are powers of 1024, with or without "B" or "iB".
 */
bool size_parse(struct str text, uint64_t *out);

/* Appends the size in the largest unit without a fraction: "64MB". */
void size_add(struct buf *out, uint64_t bytes);

#endif
