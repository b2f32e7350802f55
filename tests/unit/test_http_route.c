#include "test.h"

#include "http/server/route.h"

static const char *called;

static void list(void *request)
{
    (void)request;
    called = "list";
}

static void add(void *request)
{
    (void)request;
    called = "add";
}

static void get(void *request)
{
    called = request;
}

static const struct http_route table[] = {
    {"GET", "/things", list, .scope = 1},
    {"POST, PUT", "/things", add, .scope = 2, .max_body = 100},
    {"GET", "/things/*", get},
    {"GET,POST", "/both", add},
    {"POST", "/*", add},
};

static enum http_found find(const char *method, const char *path,
                            struct http_match *m)
{
    return http_routes_find(HTTP_ROUTES(table), str_from(method),
                            str_from(path), m);
}

TEST(method_and_path_lead_to_a_function)
{
    struct http_match m;

    EXPECT(find("GET", "/things", &m) == HTTP_ROUTE_FOUND);
    EXPECT(m.route->handle == list && m.route->scope == 1);
    EXPECT(find("PUT", "/things", &m) == HTTP_ROUTE_FOUND);
    EXPECT(m.route->handle == add && m.route->max_body == 100);
    EXPECT(find("GET", "/things/a/b", &m) == HTTP_ROUTE_FOUND);
    m.route->handle((void *)"get");
    EXPECT_STR(m.rest, "a/b");
    EXPECT_STR(str_from(called), "get");
    EXPECT(find("GET", "/things/", &m) == HTTP_ROUTE_FOUND && m.rest.n == 0);
}

TEST(head_goes_where_get_goes)
{
    struct http_match m;

    EXPECT(find("HEAD", "/things", &m) == HTTP_ROUTE_FOUND);
    EXPECT(m.route->handle == list);
}

TEST(the_first_match_is_taken)
{
    struct http_match m;

    EXPECT(find("POST", "/both", &m) == HTTP_ROUTE_FOUND);
    EXPECT(m.route == &table[3]);
    EXPECT(find("POST", "/anything", &m) == HTTP_ROUTE_FOUND);
    EXPECT(m.route == &table[4]);
}

static struct str allow(const char *path, struct buf *out)
{
    buf_clear(out);
    http_routes_allow(HTTP_ROUTES(table), str_from(path), out);
    return buf_str(out);
}

TEST(a_wrong_method_is_told_the_right_ones)
{
    struct buf out = BUF_INIT(100);
    struct http_match m;

    EXPECT(find("DELETE", "/things", &m) == HTTP_ROUTE_NO_METHOD);
    EXPECT_STR(allow("/things", &out), "GET, HEAD, POST, PUT");
    EXPECT(find("get", "/things", &m) == HTTP_ROUTE_NO_METHOD);
    EXPECT(find("GET", "/thing", &m) == HTTP_ROUTE_NO_METHOD);
    EXPECT_STR(allow("/thing", &out), "POST");
    EXPECT(find("GET", "nothing", &m) == HTTP_ROUTE_NO_PATH);
    EXPECT_STR(allow("nothing", &out), "");
    buf_release(&out);
}

TEST_MAIN
