/* What the views ask for, refined: labels, filters that combine, functions
 * that are chosen without filtering, names of files. */
#include "test.h"

#include "page_support.h"

#define LABELLED                                                               \
    "types samples/count cpu/nanoseconds\n"                                    \
    "main;serve;read 4 400 route=/cart worker=a bytes:32bytes\n"               \
    "main;serve;write 3 300 route=/cart worker=b\n"                            \
    "main;serve;read 2 200 route=/item worker=b\n"                             \
    "main;idle 1 100\n"

static void expect_total(struct page *page, const char *words, const char *want)
{
    struct asker a = {.page = page};
    struct reply r;
    char line[160];

    snprintf(line, sizeof(line), "GET /ui/data/meta?si=cpu&%s", words);
    r = ask(&a, line);
    EXPECT(r.status == 200);
    EXPECT_STR(member(&r, "shown"), want);
    EXPECT_STR(member(&r, "total"), "1000");
    reply_release(&r);
}

TEST(filters_of_one_kind_must_all_match)
{
    struct page_options o = {0};
    struct page *page = page_of(LABELLED, &o);

    expect_total(page, "", "1000");
    expect_total(page, "f=serve", "900");
    expect_total(page, "f=serve&f=read", "600");
    expect_total(page, "f=serve&f=read&f=write", "0");
    expect_total(page, "tf=route=/cart", "700");
    expect_total(page, "tf=route=/cart&tf=worker=b", "300");
    expect_total(page, "tf=worker=b&ti=route=/item&ti=route=/nothing", "300");
    expect_total(page, "i=idle&i=write", "600");
    page_free(page);
}

TEST(a_further_filter_that_is_wrong_fails_like_the_first)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(LABELLED, &o)};
    struct reply r = ask(&a, "GET /ui/data/top?f=main&f=(");

    EXPECT(r.status == 400);
    EXPECT(str_contains(buf_str(&r.body), STR("parsing focus regexp")));
    reply_release(&r);
    page_free(a.page);
}

/* The text of values[i][name] of the first key. */
static struct str value_member(struct str body, size_t i, const char *name)
{
    struct json_view v, keys, key, values, one = {0}, m = {0};
    struct str rest = {0};

    if (!json_view(body, &v) || !json_view_member(v, STR("keys"), &keys) ||
        !json_view_next(keys, &rest, &key) ||
        !json_view_member(key, STR("values"), &values))
        return STR("");
    rest = (struct str){0};
    for (size_t k = 0; k <= i; k++)
        if (!json_view_next(values, &rest, &one))
            return STR("");
    return json_view_member(one, str_from(name), &m) ? m.text : STR("");
}

TEST(labels_are_structured_and_have_the_numbers_of_tags)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(LABELLED, &o)};
    struct reply r = ask(&a, "GET /ui/data/labels?si=cpu&f=read");
    struct str body = buf_str(&r.body);

    EXPECT(r.status == 200);
    EXPECT(str_contains(body, STR("\"key\":\"bytes\"")));
    EXPECT_STR(value_member(body, 0, "value"), "\"32B\"");
    EXPECT_STR(value_member(body, 0, "number"), "true");
    EXPECT_STR(value_member(body, 0, "weight"), "400");
    EXPECT_STR(value_member(body, 0, "text"), "\"400ns\"");
    EXPECT_STR(value_member(body, 0, "percent"), "\"40.00%\"");
    EXPECT_STR(value_member(body, 1, "value"), "");
    reply_release(&r);
    r = ask(&a, "GET /ui/data/labels?si=cpu&ts=route");
    body = buf_str(&r.body);
    EXPECT_STR(value_member(body, 0, "value"), "\"/cart\"");
    EXPECT_STR(value_member(body, 0, "weight"), "700");
    EXPECT_STR(value_member(body, 0, "number"), "false");
    EXPECT_STR(value_member(body, 1, "value"), "\"/item\"");
    reply_release(&r);
    page_free(a.page);
}

TEST(a_function_is_chosen_without_filtering)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(LABELLED, &o)};
    struct reply r = ask(&a, "GET /ui/data/peek?si=cpu&sym=^read$");
    struct str body = buf_str(&r.body);

    EXPECT(r.status == 200);
    EXPECT(str_contains(body, STR("1000ns total")));
    EXPECT(str_contains(body, STR("| read")));
    EXPECT(!str_contains(body, STR("focus=")));
    reply_release(&r);
    page_free(a.page);
}

TEST(code_that_is_missing_is_an_answer)
{
    struct page_options o = {0};
    struct asker a = {.page = page_of(LABELLED, &o)};
    struct reply r = ask(&a, "GET /ui/data/disasm?sym=^nothing$");

    EXPECT(r.status == 200);
    EXPECT(str_contains(member(&r, "missing"), STR("no matches found")));
    reply_release(&r);
    r = ask(&a, "GET /ui/data/disasm?f=nothing");
    EXPECT(r.status == 400);
    reply_release(&r);
    page_free(a.page);
}

static void expect_file_name(const char *name, const char *want)
{
    struct report_config c;
    struct page_options o = {.config = &c};
    struct file_source_options files = {.name = str_from(name)};
    struct asker a;
    struct reply r;
    char header[200];

    config_init(&c);
    a = (struct asker){
        .page = page_new(
            file_source((struct profile_pair){.profile = sketch(LABELLED)},
                        &files),
            &o)};
    r = ask(&a, "GET /ui/download?format=folded");
    snprintf(header, sizeof(header), "filename=\"%s\"", want);
    EXPECT(has_header(&r, header));
    reply_release(&r);
    page_free(a.page);
}

TEST(a_download_is_called_like_the_profile)
{
    expect_file_name("/tmp/api.heap.pb.gz", "api.heap.folded");
    expect_file_name("http://host:6060/debug/pprof/heap", "heap.folded");
    expect_file_name("a\"\r\nX: y.pb", "a___X__y.folded");
    expect_file_name(".gz", ".gz.folded");
}

TEST_MAIN
