#include "test.h"

#include <stdlib.h>

#include "runtime/push/push_labels.h"
#include "runtime/push/push_options.h"
#include "runtime/push/push_queue.h"

#define EXPECT_TEXT(got, want) EXPECT_STR(str_from(got), want)

/* An environment of "NAME=value" entries. */
static const char *const *entries;

static char *get(const char *name)
{
    size_t n = strlen(name);

    for (const char *const *e = entries; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return (char *)*e + n + 1;
    return NULL;
}

static const char *text_of(const char *asked, const char *const *env,
                           bool *has_pid)
{
    static struct buf out;
    struct push_labels labels;

    buf_release(&out);
    out = BUF_INIT(1 << 16);
    entries = env;
    push_labels_read(asked, get, &labels, has_pid);
    for (size_t i = 0; i < labels.n; i++)
        buf_addf(&out, "%s=%s;", labels.v[i].key, labels.v[i].value);
    return buf_cstr(&out);
}

TEST(the_first_label_of_a_key_counts)
{
    static const char *const env[] = {
        "PPROF_LABELS=a=2,b=3, c = x y ,bad=%zz,=none,d",
        "OTEL_RESOURCE_ATTRIBUTES=b=4,k8s.pod.name=p,service.name=s,e=5",
        "POD_NAME=other",
        "MY_POD_NAMESPACE=prod",
        "HOSTNAME=h",
        NULL};
    bool has_pid;

    EXPECT_TEXT(text_of("a=1", env, &has_pid),
                "a=1;b=3;c=x y;pod=p;e=5;namespace=prod;host=h;");
    EXPECT(has_pid);
}

TEST(a_label_without_a_value_keeps_others_out)
{
    static const char *const env[] = {"PPROF_LABELS=pid=,host=,pod",
                                      "POD_NAME=p", "HOSTNAME=h", NULL};
    bool has_pid;

    EXPECT_TEXT(text_of(NULL, env, &has_pid), "");
    EXPECT(!has_pid);
}

TEST(labels_are_escaped_twice)
{
    struct buf out = BUF_INIT(1 << 16);

    push_label_append(&out, STR("a"), STR("x,y=1"));
    push_label_append(&out, STR("b"), STR("ü"));
    EXPECT_TEXT(buf_cstr(&out), "a%3Dx%252Cy%253D1%2Cb%3D%25C3%25BC");
    buf_release(&out);
}

TEST(too_many_labels_are_counted_and_long_ones_cut)
{
    struct buf many = BUF_INIT(4096);
    struct push_labels labels;
    bool has_pid;

    buf_add(&many, STR("k="));
    for (int i = 0; i < 200; i++)
        buf_add(&many, STR("ü"));
    for (int i = 0; i < 100; i++)
        buf_addf(&many, ",k%d=1", i);
    entries = NULL;
    push_labels_read(buf_cstr(&many), get, &labels, &has_pid);
    EXPECT(labels.n == PUSH_LABELS_MAX && labels.lost > 60);
    EXPECT(strlen(labels.v[0].value) == 254); /* whole characters */
    buf_release(&many);
}

TEST(the_nearest_service_counts)
{
    static const char *const all[] = {"PPROF_SERVICE=a", "OTEL_SERVICE_NAME=b",
                                      "OTEL_RESOURCE_ATTRIBUTES=service.name=c",
                                      NULL};
    char out[16];

    entries = all;
    push_service_read("given", get, out, sizeof(out));
    EXPECT_TEXT(out, "given");
    push_service_read(NULL, get, out, sizeof(out));
    EXPECT_TEXT(out, "a");
    entries = all + 1;
    push_service_read("", get, out, sizeof(out));
    EXPECT_TEXT(out, "b");
    entries = all + 2;
    push_service_read(NULL, get, out, sizeof(out));
    EXPECT_TEXT(out, "c");
    entries = NULL;
    push_service_read(NULL, get, out, sizeof(out));
    EXPECT_TEXT(out, "test-push");
}

TEST(kinds)
{
    bool kinds[PUSH_KINDS];
    struct error err;

    EXPECT(push_kinds_parse("cpu, heap,", kinds, &err));
    EXPECT(kinds[PUSH_CPU] && kinds[PUSH_HEAP] && !kinds[PUSH_WALL]);
    EXPECT(!push_kinds_parse("cpu,leak", kinds, &err));
    EXPECT(strstr(err.text, "leak"));
    EXPECT(!push_kinds_parse(" ,", kinds, &err));
}

static struct push_profile profile(const char *type, size_t n)
{
    static const char bytes[4096];

    return (struct push_profile){.type = type, .bytes = str_of(bytes, n)};
}

TEST(a_full_queue_drops_the_oldest)
{
    struct push_queue q = {.max_bytes = 8000};
    struct push_profile p = profile("1", 2000), *out;

    EXPECT(push_queue_add(&q, &p));
    p = profile("2", 2000);
    EXPECT(push_queue_add(&q, &p));
    out = push_queue_take(&q); /* being sent: it still needs its room */
    EXPECT_TEXT(out->type, "1");
    p = profile("3", 3000);
    EXPECT(push_queue_add(&q, &p));
    EXPECT(q.lost == 1 && q.bytes <= q.max_bytes);
    push_queue_return(&q, out);
    out = push_queue_take(&q);
    EXPECT_TEXT(out->type, "1");
    push_queue_free(&q, out);
    out = push_queue_take(&q);
    EXPECT_TEXT(out->type, "3");
    push_queue_free(&q, out);
    EXPECT(push_queue_take(&q) == NULL && q.bytes == 0);
}

TEST(a_profile_that_is_larger_than_the_queue_is_lost)
{
    struct push_queue q = {.max_bytes = 3000};
    struct push_profile small = profile("1", 100), large = profile("2", 4000);

    EXPECT(push_queue_add(&q, &small));
    EXPECT(!push_queue_add(&q, &large));
    EXPECT(q.lost == 1 && q.first && q.first == q.last);
    push_queue_clear(&q);
    EXPECT(q.bytes == 0 && !q.first && !q.last);
}

static bool parses(const char *url, struct http_url *out, struct error *err)
{
    return http_url_parse(str_from(url), out, err);
}

TEST(urls)
{
    struct http_url u;
    struct error err;

    EXPECT(parses("http://h", &u, &err));
    EXPECT_TEXT(u.port, "80");
    EXPECT(!u.is_tls && !u.user[0] && !u.path[0]);
    EXPECT(parses("https://me:a%3Ab@[::1]:1/x/", &u, &err));
    EXPECT_TEXT(u.user, "me:a:b");
    EXPECT_TEXT(u.host, "::1");
    EXPECT_TEXT(u.path, "/x");
    EXPECT(parses("http://a@b@h/c@d", &u, &err));
    EXPECT_TEXT(u.host, "h");
    EXPECT_TEXT(u.path, "/c@d");
    EXPECT(!parses("http://u:secret@h:1:2/", &u, &err));
    EXPECT(!strstr(err.text, "secret"));
    EXPECT(!parses("http://h/a b", &u, &err));
    EXPECT(!parses("http://h/a\r\nX: y", &u, &err));
    EXPECT(!parses("http://h/?q", &u, &err));
    EXPECT(!parses("http://%zz@h", &u, &err));
    EXPECT(!parses("unix:/x", &u, &err));
    /* What stands behind the URL is not looked at. */
    EXPECT(http_url_parse(str_of("http://h/p?", 10), &u, &err));
    EXPECT_TEXT(u.path, "/p");
}

TEST_MAIN
