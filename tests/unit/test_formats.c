#include "test.h"

#include <stdlib.h>

#include "report/context.h"
#include "report/format/columns.h"
#include "report/frame.h"
#include "report/report.h"

/*
 * Formats that print a profile as it is, on a profile made here:
 *
 *     main (main.c:10) ── work (work.c:20) ── [inlined: add (add.h:3)]
 */
static uint32_t add_function(struct profile *p, const char *name,
                             const char *system_name, const char *file)
{
    struct function *f = vec_push(p->arena, &p->functions);

    f->id = p->functions.n;
    f->name = profile_intern(p, str_from(name));
    f->system_name = profile_intern(p, str_from(system_name));
    f->filename = profile_intern(p, str_from(file));
    f->start_line = (int64_t)f->id;
    return (uint32_t)p->functions.n - 1;
}

static void add_line(struct profile *p, uint32_t function, int64_t line)
{
    struct line *l = vec_push(p->arena, &p->lines);

    *l = (struct line){.function = function, .line = line, .column = 7};
    p->locations.v[p->locations.n - 1].n_lines++;
}

static void add_location(struct profile *p, uint64_t id, uint32_t mapping)
{
    struct location *l = vec_push(p->arena, &p->locations);

    *l = (struct location){.id = id,
                           .address = id * 16,
                           .mapping = mapping,
                           .line_start = (uint32_t)p->lines.n};
}

static struct profile *small_profile(void)
{
    struct profile *p = profile_new();
    uint32_t main_f = add_function(p, "main", "main", "main.c");
    uint32_t work_f = add_function(p, "work", "_Zwork", "work.c");
    uint32_t add_f = add_function(p, "add", "add", "add.h");
    struct mapping *m = vec_push(p->arena, &p->mappings);

    *m = (struct mapping){.id = 4,
                          .start = 0x1000,
                          .limit = 0x2000,
                          .file = profile_intern(p, STR("/bin/prog")),
                          .has_functions = true,
                          .has_inline_frames = true};
    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("samples")), profile_intern(p, STR("count"))};
    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("cpu")), profile_intern(p, STR("nanoseconds"))};
    add_location(p, 1, 0);
    add_line(p, main_f, 10);
    add_location(p, 22, 0);
    add_line(p, add_f, 3);
    add_line(p, work_f, 20);
    add_location(p, 333, NO_INDEX);
    p->locations.v[2].is_folded = true;
    return p;
}

static void end_sample(struct sample_builder *b, int64_t count, int64_t cpu)
{
    sample_builder_end(b, (int64_t[]){count, cpu});
}

static void string_label(struct sample_builder *b, const char *key,
                         const char *value)
{
    struct profile *p = b->profile;

    sample_builder_label(
        b, (struct label){.key = profile_intern(p, str_from(key)),
                          .str = profile_intern(p, str_from(value)),
                          .kind = LABEL_STRING});
}

static void number_label(struct sample_builder *b, const char *key, int64_t num,
                         const char *unit)
{
    struct profile *p = b->profile;

    sample_builder_label(
        b, (struct label){.key = profile_intern(p, str_from(key)),
                          .str = profile_intern(p, str_from(unit)),
                          .num = num,
                          .kind = *unit ? LABEL_MEASURE : LABEL_NUMBER});
}

typedef bool format_function(struct report *, struct buf *, struct error *);

static void expect_output(format_function *format, struct profile *p,
                          const char *want)
{
    const struct report_request request = {0};
    struct report r = {.arena = arena_new(),
                       .profile = p,
                       .request = &request,
                       .value_index = p->types.n - 1,
                       .sample_unit = STR("nanoseconds"),
                       .output_unit = STR("minimum"),
                       .total = 4000000000,
                       .config.divide_by = 1,
                       .config.compact_labels = true};
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err = {{0}};

    label_units_find(&r.label_units, r.arena, p);
    EXPECT(format(&r, &out, &err));
    EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
    arena_free(r.arena);
}

TEST(raw_shows_samples_locations_and_mappings)
{
    struct profile *p = small_profile();
    struct sample_builder b;

    sample_builder_init(&b, p);
    sample_builder_frame(&b, 1);
    sample_builder_frame(&b, 0);
    end_sample(&b, 1, 10000000);
    sample_builder_frame(&b, 2);
    end_sample(&b, -1, 12345678901);
    p->default_type = profile_find_string(p, STR("cpu"));
    expect_output(format_raw, p,
                  "PeriodType:  \n"
                  "Period: 0\n"
                  "Samples:\n"
                  "samples/count cpu/nanoseconds[dflt]\n"
                  "          1   10000000: 22 1 \n"
                  "         -1 12345678901: 333 \n"
                  "Locations\n"
                  "     1: 0x10 M=4 main main.c:10:7 s=1\n"
                  "    22: 0x160 M=4 add add.h:3:7 s=3\n"
                  "             work work.c:20:7 s=2(_Zwork)\n"
                  "   333: 0x14d0 [F] \n"
                  "Mappings\n"
                  "4: 0x1000/0x2000/0x0 /bin/prog  [FN][IN]\n");
    profile_free(p);
}

TEST(raw_sorts_labels_as_they_are_printed)
{
    struct profile *p = small_profile();
    struct sample_builder b;

    p->locations.n = p->mappings.n = 0;
    sample_builder_init(&b, p);
    /* As keys "a" < "a b"; printed, "a b:" < "a:". */
    string_label(&b, "a", "x");
    string_label(&b, "a", "y");
    string_label(&b, "a b", "z");
    number_label(&b, "bytes", 1, "kb");
    number_label(&b, "bytes", 2, "mb");
    number_label(&b, "plain", 3, "");
    number_label(&b, "plain", -4, "");
    end_sample(&b, 1, 1);
    expect_output(format_raw, p,
                  "PeriodType:  \n"
                  "Period: 0\n"
                  "Samples:\n"
                  "samples/count cpu/nanoseconds\n"
                  "          1          1: \n"
                  "                a b:[z] a:[x y]\n"
                  "                bytes:[1 kb 2 mb] plain:[3 -4]\n"
                  "Locations\n"
                  "Mappings\n");
    profile_free(p);
}

TEST(raw_shows_what_the_header_holds)
{
    struct profile *p = small_profile();

    setenv("TZ", "UTC", 1);
    p->locations.n = p->mappings.n = 0;
    p->types.n = 1;
    *vec_push(p->arena, &p->comments) = profile_intern(p, STR("#hidden"));
    p->doc_url = profile_intern(p, STR("https://doc"));
    p->period_type = p->types.v[0];
    p->period = 100;
    p->time_ns = 1500000000000000001;
    p->duration_ns = 3661500000000;
    expect_output(format_raw, p,
                  "Comment: #hidden\n"
                  "Doc: https://doc\n"
                  "PeriodType: samples count\n"
                  "Period: 100\n"
                  "Time: 2017-07-14 02:40:00.000000001 +0000 UTC\n"
                  "Duration: 1h1m\n"
                  "Samples:\n"
                  "samples/count\n"
                  "Locations\n"
                  "Mappings\n");
    profile_free(p);
}

TEST(comments_are_a_line_each_hidden_ones_too)
{
    struct profile *p = small_profile();

    *vec_push(p->arena, &p->comments) = profile_intern(p, STR("first"));
    *vec_push(p->arena, &p->comments) = profile_intern(p, STR("#second"));
    expect_output(format_comments, p, "first\n#second\n");
    profile_free(p);
}

#define SEPARATOR                                                              \
    "-----------+-------------------------------------------------------\n"

TEST(traces_show_labels_and_stacks_leaf_first)
{
    struct profile *p = small_profile();
    struct sample_builder b;

    p->mappings.v[0].file = 0;
    p->locations.v[2].mapping = 0;
    sample_builder_init(&b, p);
    sample_builder_frame(&b, 1);
    sample_builder_frame(&b, 0);
    string_label(&b, "key", "v1");
    string_label(&b, "key", "v2");
    string_label(&b, "z", "v3");
    number_label(&b, "bytes", 2048, "");
    end_sample(&b, 1, 1500000000);
    end_sample(&b, 1, 7); /* no frames: not shown */
    sample_builder_frame(&b, 2);
    end_sample(&b, 1, 0);
    expect_output(format_traces, p,
                  "\n" SEPARATOR "         z:  v3\n"
                  "       key:  v1 v2\n"
                  "     bytes:  2kB\n"
                  "     1.50s   0000000000000160 add add.h:3:7 (inline)\n"
                  "             0000000000000160 work work.c:20:7\n"
                  "             0000000000000010 main main.c:10:7\n" SEPARATOR
                  "         0   00000000000014d0 <unknown>\n" SEPARATOR);
    profile_free(p);
}

TEST(frames_are_named_by_what_is_known_of_them)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);
    struct frame frames[] = {
        {.name = STR("f")},
        {.name = STR("f"), .file = STR("f.c")},
        {.name = STR("f"), .file = STR("f.c"), .line = 3, .column = 4},
        {.file = STR("f.c")},
        {.address = 0xab, .object = STR("/lib/x.so")},
        {.address = 0xab, .name = STR("f"), .object = STR("x")},
        {.line = 7},
        {0},
    };

    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        frame_add_name(&b, &frames[i]);
        buf_add_char(&b, '\n');
    }
    EXPECT_STR(buf_str(&b), "f\n"
                            "f f.c\n"
                            "f f.c:3:4\n"
                            "f.c\n"
                            "00000000000000ab [x.so]\n"
                            "00000000000000ab f\n"
                            ":7\n"
                            "<unknown>\n");
    buf_release(&b);
}

TEST(tags_are_sorted_by_weight_and_equal_texts_add_up)
{
    struct profile *p = small_profile();
    struct sample_builder b;

    sample_builder_init(&b, p);
    string_label(&b, "key", "small");
    number_label(&b, "bytes", 1024 * 1024, "");
    end_sample(&b, 1, 1000000000);
    string_label(&b, "key", "b");
    number_label(&b, "bytes", 1024 * 1024 + 1, "");
    end_sample(&b, 1, -1500000000);
    string_label(&b, "key", "a");
    end_sample(&b, 1, 1500000000);
    expect_output(format_tags, p,
                  " bytes: Total -500ms of 4s (12.50%)\n"
                  "        -500ms (12.50%): 1MB\n"
                  "\n"
                  " key: Total 1s of 4s (25.00%)\n"
                  "       1.50s (37.50%): a\n"
                  "      -1.50s (37.50%): b\n"
                  "          1s (25.00%): small\n"
                  "\n");
    profile_free(p);
}

/* What a drain got. */
struct drained {
    struct buf bytes;
    size_t longest;  /* piece */
    int calls, most; /* after that many it fails */
};

static bool take(void *arg, struct str bytes, struct error *drain_err)
{
    struct drained *d = arg;

    if (d->calls++ == d->most)
        return error_set(drain_err, "no room");
    buf_add(&d->bytes, bytes);
    if (bytes.n > d->longest)
        d->longest = bytes.n;
    return true;
}

static struct profile *long_profile(void)
{
    struct profile *p = small_profile();
    struct sample_builder b;

    sample_builder_init(&b, p);
    for (int i = 0; i < 4000; i++) {
        for (uint32_t depth = 0; depth < 400; depth++)
            sample_builder_frame(&b, (uint32_t)i >> depth % 12 & 1);
        end_sample(&b, 1, 10);
    }
    return p;
}

static bool write_long(enum report_format format, struct drained *d,
                       struct buf *out, struct error *write_err)
{
    struct report_config config;
    struct buf warnings = BUF_INIT(1000);
    struct report_request request = {.format = format,
                                     .config = &config,
                                     .drain = d ? take : NULL,
                                     .drain_arg = d};
    struct profile *p = long_profile();
    bool ok;

    config_init(&config);
    ok = report_write(p, &request, out, &warnings, write_err);
    buf_release(&warnings);
    profile_free(p);
    return ok;
}

TEST(long_reports_go_out_in_pieces)
{
    static const enum report_format formats[] = {REPORT_TRACES, REPORT_FOLDED,
                                                 REPORT_RAW};
    struct error write_err;

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct buf whole = BUF_INIT(BUF_NO_LIMIT), rest = whole;
        struct drained d = {.bytes = BUF_INIT(BUF_NO_LIMIT), .most = 1000};
        struct drained full = {.bytes = BUF_INIT(BUF_NO_LIMIT), .most = 1};

        EXPECT(write_long(formats[i], NULL, &whole, &write_err));
        EXPECT(write_long(formats[i], &d, &rest, &write_err));
        EXPECT(d.calls > 1 && d.longest < 2 << 20);
        buf_add(&d.bytes, buf_str(&rest));
        EXPECT(str_eq(buf_str(&d.bytes), buf_str(&whole)));
        buf_clear(&rest);
        EXPECT(!write_long(formats[i], &full, &rest, &write_err));
        EXPECT_STR(str_from(write_err.text), "no room");
        buf_release(&whole);
        buf_release(&rest);
        buf_release(&d.bytes);
        buf_release(&full.bytes);
    }
}

TEST(columns_are_runs_of_lines_with_a_cell_there)
{
    struct arena *a = arena_new();
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    columns_align_right(&b, a,
                        STR("a\tlong\tx\n"
                            "bbb\tµ\ty\n"
                            "c\tfree\n"
                            "alone\n"
                            "d\tz\n"));
    EXPECT_STR(buf_str(&b), "   a longx\n"
                            " bbb    µy\n"
                            "   cfree\n"
                            "alone\n"
                            " dz\n");
    buf_release(&b);
    arena_free(a);
}

TEST_MAIN
