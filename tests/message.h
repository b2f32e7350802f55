#ifndef TESTS_MESSAGE_H
#define TESTS_MESSAGE_H

/*
 * Protobuf messages from a line of text, so that a test shows what it reads:
 *
 *     struct buf b = message("9=5 2{1[1 2] 2=7} 6:text 97* 96+");
 *
 * A field is its number and then =varint, :bytes (up to a space or brace),
 * {fields} of a message inside, [packed varints], * for eight fixed bytes, +
 * for four.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "profile/wire.h"

static inline const char *message_add(struct buf *b, const char *at);

static inline const char *message_field(struct buf *b, const char *at)
{
    char *end;
    unsigned field = (unsigned)strtoul(at, &end, 10);
    size_t mark;

    switch (*end++) {
    case '=':
        wire_add_u64(b, field, strtoull(end, &end, 0));
        return end;
    case ':':
        at = end + strcspn(end, " }");
        wire_add_bytes(b, field, str_of(end, (size_t)(at - end)));
        return at;
    case '{':
        mark = wire_open(b, field);
        at = message_add(b, end);
        wire_close(b, mark);
        return at + 1;
    case '[':
        mark = wire_open(b, field);
        while (*end != ']')
            wire_add_varint(b, strtoull(end, &end, 0));
        wire_close(b, mark);
        return end + 1;
    case '*':
        wire_add_varint(b, wire_tag(field, WIRE_FIXED64));
        buf_add_pad(b, '\0', 8);
        return end;
    case '+':
        wire_add_varint(b, wire_tag(field, WIRE_FIXED32));
        buf_add_pad(b, '\0', 4);
        return end;
    }
    abort();
}

/* Appends the fields up to the end or a closing brace; where that is. */
static inline const char *message_add(struct buf *b, const char *at)
{
    while (*at && *at != '}')
        at = *at == ' ' ? at + 1 : message_field(b, at);
    return at;
}

static inline struct buf message(const char *text)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    message_add(&b, text);
    return b;
}

#endif
