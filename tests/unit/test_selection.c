#include "test.h"

#include "collector/query/selection.h"

#define NOW INT64_C(1769846400000000000) /* 2026-01-31T08:00:00Z */

/* The canonical form, or the error. */
static const char *canonical(const char *text)
{
    static char result[8192];
    struct arena *a = arena_new();
    struct buf out = BUF_INIT(sizeof(result) - 1);
    struct error err = {""};
    struct selection s;

    if (selection_parse(&s, a, str_from(text), NOW, &err)) {
        selection_format(&s, a, &out);
        selection_release(&s);
        snprintf(result, sizeof(result), "%s", buf_cstr(&out));
    } else {
        snprintf(result, sizeof(result), "%s", err.text);
    }
    buf_release(&out);
    arena_free(a);
    return result;
}

static const char *name_of(const char *text)
{
    static char result[256];
    struct arena *a = arena_new();
    struct selection s;
    struct error err;

    EXPECT(selection_parse(&s, a, str_from(text), NOW, &err));
    snprintf(result, sizeof(result), "%" STR_FMT,
             STR_ARG(selection_name(&s, a)));
    selection_release(&s);
    arena_free(a);
    return result;
}

#define EXPECT_CANONICAL(text, want) EXPECT_STR(str_from(canonical(text)), want)

TEST(relative_times_become_absolute)
{
    EXPECT_CANONICAL("cpu{service='api'} now-1h..now",
                     "cpu{service=\"api\"} "
                     "2026-01-31T07:00:00Z..2026-01-31T08:00:00Z");
    EXPECT_CANONICAL(" cpu  now-90m..now-30m ",
                     "cpu{} 2026-01-31T06:30:00Z..2026-01-31T07:30:00Z");
    EXPECT_CANONICAL("cpu", "cpu{} 2026-01-31T07:00:00Z..2026-01-31T08:00:00Z");
    EXPECT_CANONICAL("", "{} 2026-01-31T07:00:00Z..2026-01-31T08:00:00Z");
}

TEST(values_and_spaces_inside_of_labels)
{
    EXPECT_CANONICAL("heap{a=\"x y..z\"} 1769846400..1769846401.5 changes",
                     "heap{a=\"x y..z\"} 2026-01-31T08:00:00Z.."
                     "2026-01-31T08:00:01.5Z changes");
    EXPECT_CANONICAL("heap{a=\"..\"} sent",
                     "heap{a=\"..\"} 2026-01-31T07:00:00Z.."
                     "2026-01-31T08:00:00Z");
}

TEST(one_profile)
{
    EXPECT_CANONICAL("id:dbugrhdq9gve01n6ntj0", "id:dbugrhdq9gve01n6ntj0");
    EXPECT_CANONICAL("id:x", "\"x\" is not the id of a profile");
}

TEST(mistakes)
{
    EXPECT_CANONICAL("cpu now..now-1h", "the time range ends before it starts");
    EXPECT(strstr(canonical("cpu x..now"), "the time range: "));
    EXPECT(strstr(canonical("cpu{ now-1h..now"), "column"));
}

TEST(names_for_people)
{
    EXPECT_STR(str_from(name_of("cpu{service=\"api\",version=\"1.4\"}")),
               "api.cpu.1.4");
    EXPECT_STR(str_from(name_of("{region!=\"eu\"}")), "profiles");
}

TEST_MAIN
