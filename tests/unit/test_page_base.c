/* A page whose command line named a base: -diff_base, or -base. */
#include "test.h"

#include "page_support.h"
#include "profile/encode.h"

#define TYPES "types samples/count\n"
#define NEW                                                                    \
    TYPES "main;a 10\n"                                                        \
          "main;b 30\n"
#define OLD                                                                    \
    TYPES "main;a 20\n"                                                        \
          "main;gone 60\n"

/* What the page's last step with a profile did. */
struct steps {
    int finished;
    bool fails;
};

static bool finish(void *arg, struct profile *p, struct error *err)
{
    struct steps *steps = arg;

    (void)p;
    steps->finished++;
    return !steps->fails || error_set(err, "it is not finished");
}

static bool fetch(void *arg, struct profile_pair *out, struct error *err)
{
    (void)arg;
    (void)err;
    *out = (struct profile_pair){sketch(TYPES "main;a 5\n"), sketch(OLD)};
    return true;
}

/* The config lives as long as the page. */
static struct page *page_with(const char *profile, const char *base,
                              const struct report_config *config,
                              struct file_source_options *files)
{
    files->name = STR("new.pb");
    files->base_name = STR("old.pb");
    files->normalizes = config->normalize;
    return page_new(
        file_source((struct profile_pair){sketch(profile), sketch(base)},
                    files),
        &(struct page_options){.config = config});
}

static void expect_member(struct page *page, const char *line, const char *name,
                          const char *want)
{
    struct asker a = {.page = page};
    struct reply r = ask(&a, line);

    EXPECT(r.status == 200);
    EXPECT_STR(member(&r, name), want);
    reply_release(&r);
}

/* {base, new, delta} of all samples. */
static void expect_totals(struct page *page, const char *words, int base,
                          int new)
{
    char line[64], want[160];

    snprintf(line, sizeof(line), "GET /ui/data/diff?%s", words);
    snprintf(want, sizeof(want),
             "{\"base\":%d,\"new\":%d,\"delta\":%d,\"base_text\":\"%d\","
             "\"new_text\":\"%d\",\"delta_text\":\"%d\"}",
             base, new, new - base, base, new, new - base);
    expect_member(page, line, "total", want);
}

TEST(a_request_says_whether_the_base_is_normalised)
{
    struct report_config c;
    struct file_source_options o = {.marks_base = true};
    struct page *page;

    config_init(&c);
    page = page_with(NEW, OLD, &c, &o);
    expect_totals(page, "", 80, 40);
    expect_totals(page, "norm=t", 80, 80);
    expect_totals(page, "norm=f", 80, 40);
    expect_member(page, "GET /ui/data/meta", "can_normalize", "true");
    expect_member(page, "GET /ui/data/meta", "has_base", "true");
    page_free(page);
}

TEST(without_a_word_it_is_as_the_command_line_says)
{
    struct report_config c;
    struct file_source_options o = {.marks_base = true};
    struct page *page;

    config_init(&c);
    c.normalize = true;
    page = page_with(NEW, OLD, &c, &o);
    expect_totals(page, "", 80, 80);
    expect_totals(page, "norm=f", 80, 40);
    page_free(page);
}

TEST(a_base_without_marks_leaves_the_difference)
{
    struct report_config c;
    struct file_source_options o = {0};
    struct page *page;

    config_init(&c);
    page = page_with(NEW, OLD, &c, &o);
    expect_member(page, "GET /ui/data/meta", "has_base", "false");
    expect_member(page, "GET /ui/data/meta", "can_normalize", "true");
    /* Totals are sums of sizes: 10 + 30 + 60, and 0 + 60 + 60. */
    expect_member(page, "GET /ui/data/top", "total", "100");
    expect_member(page, "GET /ui/data/top?norm=t", "total", "120");
    page_free(page);
}

TEST(what_is_left_is_finished_for_each_request)
{
    struct report_config c;
    struct steps steps = {0};
    struct file_source_options o = {
        .marks_base = true, .arg = &steps, .finish = finish};
    struct asker a;
    struct reply r;

    config_init(&c);
    a = (struct asker){.page = page_with(NEW, OLD, &c, &o)};
    expect_totals(a.page, "", 80, 40);
    expect_totals(a.page, "norm=t", 80, 80);
    EXPECT(steps.finished == 2);
    steps.fails = true;
    r = ask(&a, "GET /ui/data/top");
    EXPECT(r.status == 400);
    EXPECT_STR(buf_str(&r.body), "{\"error\":\"it is not finished\"}");
    reply_release(&r);
    page_free(a.page);
}

TEST(types_that_differ_cannot_be_normalised)
{
    struct report_config c;
    struct file_source_options o = {.marks_base = true};
    struct asker a;
    struct reply r;

    config_init(&c);
    a = (struct asker){.page = page_with("types samples/count cpu/nanoseconds\n"
                                         "main 1 10\n",
                                         OLD, &c, &o)};
    expect_totals(a.page, "norm=f", 80, 1);
    r = ask(&a, "GET /ui/data/diff?norm=t");
    EXPECT(r.status == 400);
    EXPECT(str_contains(buf_str(&r.body), STR("incompatible sample types")));
    reply_release(&r);
    page_free(a.page);
}

TEST(another_base_takes_the_place_of_the_command_lines)
{
    struct report_config c;
    struct file_source_options o = {.marks_base = true};
    struct profile *dropped = sketch(TYPES "main;a 5\n");
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct asker a = {.headers = "X-Pprof: 1\r\n"};
    struct reply r;

    config_init(&c);
    profile_encode(dropped, &bytes);
    profile_free(dropped);
    a.page = page_with(NEW, OLD, &c, &o);
    a.body = buf_str(&bytes);
    r = ask(&a, "POST /ui/profiles?name=x");
    EXPECT(r.status == 200);
    reply_release(&r);
    expect_totals(a.page, "base=2", 5, 40);
    expect_totals(a.page, "profile=2&base=1", 40, 5);
    expect_totals(a.page, "profile=2&base=1&norm=t", 40, 40);
    expect_member(a.page, "GET /ui/data/meta?profile=2", "can_normalize",
                  "false");
    expect_member(a.page, "GET /ui/data/meta?profile=2&base=1", "can_normalize",
                  "true");
    buf_release(&bytes);
    page_free(a.page);
}

TEST(what_is_fetched_again_has_its_base_too)
{
    struct report_config c;
    struct file_source_options o = {.marks_base = true, .fetch = fetch};
    struct asker a = {.headers = "X-Pprof: 1\r\n"};
    struct reply r;

    config_init(&c);
    a.page = page_with(NEW, OLD, &c, &o);
    r = ask(&a, "POST /ui/refetch");
    EXPECT_STR(buf_str(&r.body), "{\"id\":\"2\"}");
    reply_release(&r);
    expect_totals(a.page, "profile=2", 80, 5);
    expect_totals(a.page, "profile=2&norm=t", 80, 80);
    page_free(a.page);
}

/* A member of "a" or "b" of meta. */
static void expect_side(struct page *page, const char *words, const char *side,
                        const char *want)
{
    struct asker a = {.page = page};
    struct reply r;
    char line[80];
    struct json_view v, m;

    snprintf(line, sizeof(line), "GET /ui/data/meta?%s", words);
    r = ask(&a, line);
    EXPECT(json_view(buf_str(&r.body), &v));
    if (!want) {
        EXPECT(!json_view_member(v, str_from(side), &m));
    } else {
        EXPECT(json_view_member(v, str_from(side), &m) &&
               json_view_member(m, STR("name"), &m));
        EXPECT_STR(m.text, want);
    }
    reply_release(&r);
}

TEST(a_comparison_says_what_is_compared)
{
    struct report_config c;
    struct file_source_options o = {.marks_base = true};
    struct page *page;

    config_init(&c);
    page = page_with(NEW, OLD, &c, &o);
    expect_side(page, "", "a", "\"new.pb\"");
    expect_side(page, "", "b", "\"old.pb\"");
    expect_side(page, "a=1&b=1", "b", "\"new.pb\"");
    page_free(page);
    o.marks_base = false;
    page = page_with(NEW, OLD, &c, &o);
    expect_side(page, "", "b", NULL);
    page_free(page);
}

TEST_MAIN
