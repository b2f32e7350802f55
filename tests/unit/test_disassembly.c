#include "test.h"

#include "fake_objects.h"
#include "report/report.h"
#include "report/code/annotated_instructions.h"
#include "report/code/objects_memo.h"
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

/* ---- what is remembered ---- */

struct remembering {
    struct fake_objects fake;
    struct objects from;
    struct objects_memo memo;
    struct arena *arena;
};

static void start(struct remembering *r, int64_t limit_ns)
{
    *r = (struct remembering){.arena = arena_new()};
    r->from = fake_objects(&r->fake);
    objects_memo_init(&r->memo, &r->from, r->arena);
    objects_memo_allow(&r->memo, limit_ns);
}

static void end(struct remembering *r)
{
    objects_memo_release(&r->memo);
    EXPECT(r->fake.opened == r->fake.closed);
    arena_free(r->arena);
}

static struct object *open_at(struct remembering *r, const char *path,
                              uint64_t at)
{
    const struct objects *o = &r->memo.objects;
    struct error err;

    return o->open(o->arg, path, (struct object_mapping){at, at + 1, 0, {0}},
                   &err);
}

/* How many instructions; -1 if there are none to be had. */
static int code_at(struct remembering *r, struct object *object, uint64_t at,
                   bool intel)
{
    const struct objects *o = &r->memo.objects;
    struct instructions in = {0};
    struct arena *a = arena_new(); /* a report's, which ends */
    struct error err;
    bool ok =
        o->disassemble(o->arg, object, a, at, at + 0x100, intel, &in, &err);

    arena_free(a);
    if (ok && in.list.n > 0) /* still readable */
        EXPECT(str_has_prefix(in.list.v[0].text, STR("nop 0x1")));
    return ok ? (int)in.list.n : -1;
}

TEST(binaries_are_opened_and_code_is_read_once)
{
    struct remembering r;
    struct object *one, *two;

    start(&r, INT64_MAX / 2);
    one = open_at(&r, "a", 1);
    two = open_at(&r, "a", 2);
    EXPECT(one && two && one != two);
    EXPECT(open_at(&r, "b", 1) != one);
    r.memo.objects.close(r.memo.objects.arg, one);
    EXPECT(open_at(&r, "a", 1) == one);
    EXPECT(r.fake.opened == 3 && r.fake.closed == 0);
    for (int i = 0; i < 2; i++) {
        EXPECT(code_at(&r, one, 0x1000, false) == 16);
        EXPECT(code_at(&r, one, 0x1100, false) == 16);
        EXPECT(code_at(&r, one, 0x1100, true) == 16);
        EXPECT(code_at(&r, two, 0x1100, true) == 16);
        EXPECT(r.fake.disassembled == 4);
    }
    end(&r);
}

TEST(when_the_time_is_up_only_what_is_known_is_there)
{
    struct remembering r;
    struct object *o;

    start(&r, 0);
    EXPECT(!open_at(&r, "a", 1));
    objects_memo_allow(&r.memo, INT64_MAX / 2);
    o = open_at(&r, "a", 1);
    EXPECT(code_at(&r, o, 0x1000, false) == 16);
    objects_memo_allow(&r.memo, 0);
    EXPECT(open_at(&r, "a", 1) == o && !open_at(&r, "b", 1));
    EXPECT(code_at(&r, o, 0x1000, false) == 16);
    EXPECT(code_at(&r, o, 0x1100, false) == -1);
    end(&r);
}

TEST_MAIN
