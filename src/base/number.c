#include "base/number.h"

#include <string.h>

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

static const char hex_digits[] = "0123456789abcdef";

size_t number_put_u64(char *to, uint64_t value)
{
    char text[NUMBER_I64_MAX];
    size_t at = sizeof(text);

    while (value >= 100) {
        at -= 2;
        memcpy(text + at, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(text + at, digit_pairs + value * 2, 2);
    } else {
        text[--at] = (char)('0' + value);
    }
    memcpy(to, text + at, sizeof(text) - at);
    return sizeof(text) - at;
}

size_t number_put_i64(char *to, int64_t value)
{
    if (value >= 0)
        return number_put_u64(to, (uint64_t)value);
    *to = '-';
    return 1 + number_put_u64(to + 1, -(uint64_t)value);
}

size_t number_put_hex(char *to, uint64_t value)
{
    size_t n = 1;

    while (n < NUMBER_HEX_MAX && value >> 4 * n)
        n++;
    for (size_t i = n; i-- > 0; value >>= 4)
        to[i] = hex_digits[value & 15];
    return n;
}

size_t number_put_bytes(char *to, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];

        to[2 * i] = hex_digits[byte >> 4];
        to[2 * i + 1] = hex_digits[byte & 15];
    }
    return 2 * n;
}

void buf_add_u64(struct buf *b, uint64_t value)
{
    char *to = buf_reserve(b, NUMBER_I64_MAX);

    if (to)
        b->len += number_put_u64(to, value);
}

void buf_add_i64(struct buf *b, int64_t value)
{
    char *to = buf_reserve(b, NUMBER_I64_MAX);

    if (to)
        b->len += number_put_i64(to, value);
}

void buf_add_hex(struct buf *b, uint64_t value)
{
    char *to = buf_reserve(b, 2 + NUMBER_HEX_MAX);

    if (!to)
        return;
    to[0] = '0';
    to[1] = 'x';
    b->len += 2 + number_put_hex(to + 2, value);
}

void buf_add_i64_right(struct buf *b, int64_t value, size_t width)
{
    char text[NUMBER_I64_MAX];
    size_t n = number_put_i64(text, value);

    if (n < width)
        buf_add_pad(b, ' ', width - n);
    buf_add_bytes(b, text, n);
}
