#include "test.h"

#include "fail_realloc.h"
#include "profile/wire.h"
#include "profile/wire_read.h"

static void expect_bytes(int line, const struct buf *b, struct str want)
{
    test_expect_str(__FILE__, line, buf_str(b), want);
}

#define EXPECT_BYTES(b, want) expect_bytes(__LINE__, (b), STR(want))

TEST(varints_of_all_sizes_read_back)
{
    for (unsigned bits = 0; bits < 64; bits++)
        for (int off = -1; off <= 1; off++) {
            uint64_t v = ((uint64_t)1 << bits) + (uint64_t)off, got = ~v;
            struct buf b = BUF_INIT(64);
            struct wire_reader r;

            wire_add_varint(&b, v);
            EXPECT(b.len == wire_varint_size(v));
            r = (struct wire_reader){
                .at = (unsigned char *)b.data,
                .end = (unsigned char *)b.data + b.len,
            };
            EXPECT(wire_read_varint(&r, &got) && got == v && !wire_more(&r));
            r.at = (unsigned char *)b.data;
            r.end--;
            EXPECT(!wire_read_varint(&r, &got));
            buf_release(&b);
        }
}

TEST(fields_are_tag_and_value)
{
    struct buf b = BUF_INIT(256);

    wire_add_u64(&b, 1, 0);
    wire_add_u64_opt(&b, 2, 0);
    wire_add_u64_opt(&b, 2, 300);
    wire_add_i64_opt(&b, 3, 0);
    wire_add_i64(&b, 16, -1);
    wire_add_bytes(&b, 6, STR("hi"));
    wire_add_bytes(&b, 6, STR(""));
    EXPECT_BYTES(&b, "\x08\0"
                     "\x10\xac\x02"
                     "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                     "\x32\2hi"
                     "\x32\0");
    buf_release(&b);
}

TEST(three_and_more_scalars_are_packed)
{
    const uint64_t v[] = {1, 0, 300, 2};
    const int64_t negative[] = {0, 1, -1};
    struct buf b = BUF_INIT(256);

    wire_add_u64s(&b, 1, v, 0);
    wire_add_u64s(&b, 1, v, 2);
    wire_add_u64s(&b, 1, v, 4);
    wire_add_i64s(&b, 2, negative, 3);
    EXPECT_BYTES(&b, "\x08\1\x08\0"
                     "\x0a\5\1\0\xac\x02\2"
                     "\x12\x0c\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    buf_release(&b);
}

TEST(messages_nest_and_get_their_lengths)
{
    const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 100000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct buf b = BUF_INIT(BUF_NO_LIMIT);
        struct wire_field outer, inner;
        struct wire_reader r;
        size_t mark, mark2;

        mark = wire_open(&b, 2);
        wire_add_u64(&b, 1, 7);
        mark2 = wire_open(&b, 3);
        buf_add_pad(&b, 'x', sizes[i]);
        wire_close(&b, mark2);
        wire_close(&b, mark);
        wire_add_u64(&b, 9, 5);
        r = (struct wire_reader){
            .at = (unsigned char *)b.data,
            .end = (unsigned char *)b.data + b.len,
        };
        EXPECT(wire_next(&r, &outer) && outer.number == 2);
        EXPECT(wire_next(&outer.bytes, &inner) && inner.value == 7);
        EXPECT(wire_next(&outer.bytes, &inner) && inner.number == 3);
        EXPECT((size_t)(inner.bytes.end - inner.bytes.at) == sizes[i]);
        EXPECT(sizes[i] == 0 || inner.bytes.end[-1] == 'x');
        EXPECT(!wire_more(&outer.bytes));
        EXPECT(wire_next(&r, &outer) && outer.value == 5 && !wire_more(&r));
        buf_release(&b);
    }
}

static bool write_all(struct buf *b)
{
    const uint64_t v[200] = {1};
    size_t mark = wire_open(b, 2);

    wire_add_u64s(b, 1, v, 200);
    wire_add_bytes(b, 6, STR("bytes"));
    wire_close(b, mark);
    return buf_ok(b);
}

TEST(short_fields_are_told_from_others)
{
    static const struct {
        struct str bytes;
        size_t length; /* of tag and varint; 0: not a short one */
        uint64_t value;
    } cases[] = {
        {STR_INIT("\x08\x05"), 2, 5},
        {STR_INIT("\x08\x7f\x01"), 2, 127},
        {STR_INIT("\x08\x80\x01"), 3, 128},
        {STR_INIT("\x08\xff\x7f"), 3, 16383},
        {STR_INIT("\x08\x80\x00"), 3, 0}, /* longer than need be */
        {STR_INIT("\x08\x80\x80\x01"), 0, 0},
        {STR_INIT("\x88\x01\x05"), 0, 0}, /* the tag has two bytes */
        {STR_INIT("\x08"), 0, 0},
        {STR_INIT("\x08\x80"), 0, 0},
        {STR_INIT(""), 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const unsigned char *at = (const unsigned char *)cases[i].bytes.s;
        const unsigned char *next;
        uint64_t value = 0;
        unsigned tag = 0;

        next = wire_short_field(at, at + cases[i].bytes.n, &tag, &value);
        EXPECT((next ? (size_t)(next - at) : 0) == cases[i].length);
        EXPECT(!next || (tag == 8 && value == cases[i].value));
    }
}

TEST(running_out_of_memory_at_any_point_fails_the_buffer_only)
{
    bool done = false;

    for (int n = 1; !done; n++) {
        struct buf b = BUF_INIT(BUF_NO_LIMIT);

        fail_realloc_at(n);
        done = write_all(&b);
        fail_realloc_at(0);
        EXPECT(done == (b.len == 213));
        EXPECT(n < 20);
        buf_release(&b);
    }
}

TEST(a_full_buffer_fails_and_keeps_its_limit)
{
    for (size_t max = 0; max < 240; max++) {
        struct buf b = BUF_INIT(max);

        EXPECT(write_all(&b) == (b.len == 213));
        EXPECT(b.len <= max);
        buf_release(&b);
    }
}

TEST_MAIN
