#include "test.h"

#include "fake_objects.h"
#include "report/disassembly.h"
#include "sketch.h"

/* Names in the order of the alphabet and of their cost differ. */
#define SOME                                                                   \
    "types n/count\n"                                                          \
    "map app 1000-5000\n"                                                      \
    "app!main@f.c:2#1010;app!read@f.c:3#1120 10\n"                             \
    "app!main@f.c:2#1010;app!write@f.c:4#1230 30\n"

static int limit; /* for names_of */

/* A report_body: the symbols and what was left out, "write read +1". */
static bool names_of(struct report *r, struct buf *out, struct error *err)
{
    struct disassembly d;

    if (!disassembly_make(r, limit, &d, err))
        return false;
    for (size_t i = 0; i < d.symbols.n; i++) {
        buf_add(out, d.symbols.v[i].names[0]);
        buf_add_char(out, ' ');
    }
    buf_addf(out, "+%zu", d.n_left_out);
    return true;
}

static bool make(struct fake_objects *fake, int max, struct buf *out,
                 struct error *err)
{
    struct objects objects = fake_objects(fake);
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct profile *p = sketch(SOME);
    struct report_config c;
    struct report_request q = {.format = REPORT_DISASM,
                               .argument = STR("."),
                               .config = &c,
                               .objects = &objects,
                               .body = names_of};
    bool ok;

    limit = max;
    config_init(&c);
    ok = report_write(p, &q, out, &warnings, err);
    buf_release(&warnings);
    profile_free(p);
    EXPECT(fake->opened == fake->closed);
    return ok;
}

static void expect_names(struct fake_objects *fake, int max, const char *want)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    EXPECT(make(fake, max, &out, &err));
    EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
}

TEST(all_symbols_come_by_name_some_by_cost)
{
    struct fake_objects fake = {0};

    expect_names(&fake, -1, "main read write +0");
    expect_names(&fake, 3, "write read main +0");
    fake.disassembled = 0;
    expect_names(&fake, 2, "write read +1");
    EXPECT(fake.disassembled == 2);
}

TEST(of_some_one_may_fail_of_all_none)
{
    struct fake_objects fake = {.broken = "write"};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    expect_names(&fake, 2, "read +2");
    EXPECT(!make(&fake, -1, &out, &err));
    EXPECT_STR(str_from(err.text), "no code of write");
    EXPECT(!make(&fake, 1, &out, &err));
    EXPECT_STR(str_from(err.text), "no code of write");
    buf_release(&out);
}

TEST_MAIN
