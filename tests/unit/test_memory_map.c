/* The memory map at the end of legacy profiles, and who lies in it. */
#include "test.h"

#include "legacy_dump.h"

/* The dump behind the sample of a heap profile with these addresses (each is
 * one more than the location's) and map. */
static struct str map_of(struct buf *out, const char *addresses,
                         const char *map, struct profile_limits limits)
{
    static const struct str header = STR_INIT("objects/count space/bytes\n"
                                              "period 1 space/bytes\n1 1:");
    struct buf text = BUF_INIT(BUF_NO_LIMIT);
    struct str dump;

    buf_addf(&text,
             "heap profile: 1: 1 [1: 1] @ heapprofile\n"
             "1: 1 [1: 1] @ %s\nMAPPED_LIBRARIES:\n%s",
             addresses, map);
    dump = parse_and_dump_limited(buf_str(&text), limits, out);
    buf_release(&text);
    return str_has_prefix(dump, header) ? str_skip(dump, header.n) : dump;
}

#define EXPECT_MAP_LIMITED(addresses, map, limits, want)                       \
    do {                                                                       \
        struct buf out_ = BUF_INIT(BUF_NO_LIMIT);                              \
        EXPECT_STR(map_of(&out_, addresses, map, limits), want);               \
        buf_release(&out_);                                                    \
    } while (0)
#define EXPECT_MAP(addresses, map, want)                                       \
    EXPECT_MAP_LIMITED(addresses, map, profile_default_limits, want)
#define EXPECT_LINES(map, want) EXPECT_MAP("", map, " bytes=1\n" want)

TEST(lines_of_proc_maps_are_read)
{
    EXPECT_LINES("00400000-0045F000 r-xp 00001000 08:01 123   /bin/x y\n"
                 "00600000-00700000 r--p 00000000 08:01 123   /bin/x\n",
                 "1: 400000-45f000+1000 /bin/x\n");
    EXPECT_LINES(" 0x10-0x20: 5 0:0 7\n", "1: 10-20+5 \n");
    EXPECT_LINES("10 20 0:0 7x /a\n", "1: 10-20+0 \n");
    EXPECT_LINES("10-20\tr-xp\t5\t0:0\t7\t/a\n", "1: 10-20+5 /a\n");
}

TEST(brief_lines_are_read)
{
    EXPECT_LINES("10-20 /bin/x (@5) abc123\n", "1: 10-20+5 /bin/x abc123\n");
    EXPECT_LINES("10-20 r-xp /bin/x abc123\n", "1: 10-20+0 /bin/x abc123\n");
    EXPECT_LINES("0x10 0x20: /bin/x nope\n", "1: 10-20+0 /bin/x\n");
    EXPECT_LINES("10-20\n", "1: 10-20+0 \n");
    /* A name of permission letters is taken for permissions. */
    EXPECT_LINES("10-20 prog\n", "");
    EXPECT_LINES("10-20 xprog /a\n", "1: 10-20+0 \n");
}

TEST(joined_numbers_are_read_as_other_readers_do)
{
    EXPECT_LINES("123\n", "1: 12-3+0 \n");
    EXPECT_LINES("0x1230xab /a\n", "1: 123-ab+0 /a\n");
    EXPECT_LINES("1234 00:11 55 /a\n", "1: 123-4+0 /a\n");
    EXPECT_LINES("10-0xzz\n", "1: 10-0+0 \n");
    EXPECT_LINES("1\n10 -20\nx10-20\n", "");
}

TEST(log_prefixes_are_skipped)
{
    EXPECT_LINES("I0102 x.cc:12] 10-20 /a\n", "1: 10-20+0 /a\n");
    EXPECT_LINES("x [y.cc:12] 10-20 /a\n", "");
    EXPECT_LINES("x.cc:12]10-20 /a\n", "");
    EXPECT_LINES(":12] 10-20 /a\n", "");
}

TEST(variables_are_replaced)
{
    EXPECT_LINES("bin = /opt/bin\nx=$bin/x\n10-20 $x\n",
                 "1: 10-20+0 /opt/bin/x\n");
    /* The first that fits wins, and the result is not looked at again. */
    EXPECT_LINES("q=1\nqq=2\n10-20 /$qq$q$z$q\n", "1: 10-20+0 /1q1$z1\n");
    EXPECT_LINES("qq=2\nq=1\nq=3\n10-20 /$qq$q\n", "1: 10-20+0 /21\n");
    EXPECT_LINES("z=$z\n10-20 /$z\n", "1: 10-20+0 /$z\n");
    /* A number too large makes an entry an ordinary line. */
    EXPECT_LINES("10-12345678901234567 r-xp t=v\n"
                 "10-20 $10-12345678901234567 r-xp t\n",
                 "1: 10-20+0 v\n");
}

TEST(substitution_is_bounded)
{
    struct profile_limits limits = profile_default_limits;
    struct buf map = BUF_INIT(BUF_NO_LIMIT);

    buf_add(&map, STR("z=/xxxxxxxxxxxxxxxxxxxxxxxx\n"));
    for (int i = 0; i < 50; i++)
        buf_add(&map, STR("10-20 rw-p $z$z$z$z\n"));
    limits.string_bytes = 1000;
    EXPECT_MAP_LIMITED("", buf_cstr(&map), limits,
                       "error: memory map: more than 1000 bytes after "
                       "substitution");
    buf_clear(&map);
    for (int i = 0; i < 20000; i++)
        buf_addf(&map, "z%d=\n", i);
    for (int i = 0; i < 1000; i++)
        buf_add(&map, STR("$$$$$$$$$$$\n"));
    EXPECT_MAP("", buf_cstr(&map), "error: memory map: too many substitutions");
    buf_release(&map);
}

TEST(neighbours_are_joined)
{
    EXPECT_LINES("10-20 r-xp 5 0:0 0 /a\n20-30 r-xp 15 0:0 0 /a\n",
                 "1: 10-30+5 /a\n");
    EXPECT_LINES("10-20 r-xp 5 0:0 0 /a\n20-30 r-xp 16 0:0 0 /a\n",
                 "1: 10-20+5 /a\n2: 20-30+16 /a\n");
    EXPECT_LINES("10-20 r-xp 0 0:0 0\n20-30 r-xp 16 0:0 0 /a\n",
                 "1: 10-30+0 /a\n");
    EXPECT_LINES("10-20 /a 1\n20-30 /a 2\n", "1: 10-20+0 /a 1\n"
                                             "2: 20-30+0 /a 2\n");
    EXPECT_LINES("10-20 /a\n20-30 /b\n", "1: 10-20+0 /a\n2: 20-30+0 /b\n");
    EXPECT_LINES("10-20 /a\n21-30 /a\n", "1: 10-20+0 /a\n2: 21-30+0 /a\n");
}

TEST(the_likely_program_is_first)
{
    EXPECT_LINES("1-2\n3-4 [vdso]\n5-6 /a.so\n7-8 /a.so.1x\n9-a /a.so_2\n"
                 "b-c (deleted)\nd-e /a.sox\nf-10 /b\n",
                 "1: d-e+0 /a.sox\n2: 3-4+0 [vdso]\n3: 5-6+0 /a.so\n"
                 "4: 7-8+0 /a.so.1x\n5: 9-a+0 /a.so_2\n6: b-c+0 (deleted)\n"
                 "7: 1-2+0 \n8: f-10+0 /b\n");
    EXPECT_LINES("1-2 /a.so(deleted)\n3-4 /b(deleted)\n",
                 "1: 3-4+0 /b(deleted)\n2: 1-2+0 /a.so(deleted)\n");
}

TEST(addresses_are_in_the_first_mapping_that_covers_them)
{
    EXPECT_MAP("0x10 0x20 0x21 0x1", "10-20 /a\n8-40 /b\n",
               " 0xf@2 0x1f@1 0x20@2 0x0 bytes=1\n"
               "1: 10-20+0 /a\n2: 8-40+0 /b\n");
    EXPECT_MAP("0x51 0x0 0x9", "10-20 /a\n",
               " 0x50@2 0xffffffffffffffff@2 0x8@2 bytes=1\n"
               "1: 10-20+0 /a\n2: 0-ffffffffffffffff+0 \n");
}

TEST(first_part_of_a_mapping_is_found_by_its_offset)
{
    EXPECT_MAP("0x26 0x21", "30-40 /b (@10)\n50-60 /a (@40)\n",
               " 0x25@1 0x20@1 bytes=1\n"
               "1: 20-40+0 /b\n2: 50-60+40 /a\n");
    EXPECT_MAP("0x12 0x26", "30-40 /b (@10)\n50-60 /a (@40)\n",
               " 0x11@2 0x25@2 bytes=1\n"
               "1: 30-40+10 /b\n2: 10-60+0 /a\n");
    /* But the nameless mapping comes first once it is there. */
    EXPECT_MAP("0x9 0x12 0x26", "30-40 /b (@10)\n50-60 /a (@40)\n",
               " 0x8@3 0x11@3 0x25@3 bytes=1\n"
               "1: 30-40+10 /b\n2: 50-60+40 /a\n"
               "3: 0-ffffffffffffffff+0 \n");
    /* A mapping that ends before its start is used once only. */
    EXPECT_MAP("0x26 0x27", "30-8 /b (@10)\n50-60 /a (@40)\n",
               " 0x25@1 0x26@2 bytes=1\n"
               "1: 20-8+0 /b\n2: 10-60+0 /a\n");
}

TEST(first_mapping_is_put_right)
{
    EXPECT_LINES("10-20 /anon_hugepage\n20-30 /a\n", "1: 20-30+0 /a\n");
    EXPECT_LINES("10-20 /anon_hugepage\n21-30 /a\n",
                 "1: 10-20+0 /anon_hugepage\n2: 21-30+0 /a\n");
    EXPECT_LINES("403000-405000 r-xp 3000 0:0 0 /a\n",
                 "1: 400000-405000+0 /a\n");
}

/* Against the rule read plainly, on random maps with a fixed seed. */
static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

struct plain {
    uint64_t start, limit, offset;
};

static size_t plain_find(struct plain *m, size_t n, size_t *nameless,
                         uint64_t a)
{
    for (size_t i = 0; i < n; i++)
        if (m[i].start <= a && a < m[i].limit)
            return i;
    for (size_t i = 0; *nameless == 0 && i < n; i++) {
        if (m[i].offset && m[i].start - m[i].offset <= a && a < m[i].start) {
            m[i].start -= m[i].offset;
            m[i].offset = 0;
            return i;
        }
    }
    *nameless = 1;
    return n;
}

TEST(random_maps_are_searched_as_the_rule_says)
{
    for (int round = 0; round < 300; round++) {
        size_t n = random_below(30), nameless = 0, wrong = 0;
        struct buf text = BUF_INIT(BUF_NO_LIMIT);
        struct plain m[30];
        struct profile *p;
        struct error err;

        buf_add(&text, STR("g profile: total 1\n1 @"));
        for (int i = 0; i < 60; i++)
            buf_addf(&text, " 0x%x", (unsigned)(i * 7919 % 1000 + 2));
        buf_add(&text, STR("\n--- Memory map: ---\n"));
        for (size_t i = 0; i < n; i++) {
            /* A gap in the names keeps neighbours apart. */
            m[i] = (struct plain){1 + random_below(1000), random_below(1100),
                                  random_below(3) * random_below(400)};
            buf_addf(&text, "%x-%x x %x 0:0 0 /%zu.so\n", (unsigned)m[i].start,
                     (unsigned)m[i].limit, (unsigned)m[i].offset, i);
        }
        p = profile_parse_legacy(buf_str(&text), &profile_default_limits, &err);
        for (size_t i = 0; p && i < p->locations.n; i++)
            wrong += p->locations.v[i].mapping !=
                     plain_find(m, n, &nameless, p->locations.v[i].address);
        EXPECT(p && wrong == 0 && p->mappings.n == n + nameless);
        profile_free(p);
        buf_release(&text);
    }
}

TEST_MAIN
