/* src/kube: splitting replies, pods, owners, annotations, the table, and the
 * list-and-watch without a network. */
#include "base/clock.h"
#include "config/document.h"
#include "kube/annotations.h"
#include "kube/list_watch.h"
#include "kube/owner.h"
#include "kube/pod_record.h"
#include "kube/targets.h"

#include "test.h"

/* --- json_stream ---------------------------------------------------------- */

struct taken {
    struct buf text;
    size_t n;
    size_t stop_at; /* take() says no then; 0: never */
};

static bool take(void *arg, struct str key, struct str value, struct error *err)
{
    struct taken *t = arg;

    buf_addf(&t->text, "%" STR_FMT "=%" STR_FMT "|", STR_ARG(key),
             STR_ARG(value));
    return ++t->n != t->stop_at || error_set(err, "enough");
}

/* The values of the text, fed in pieces of `step` bytes; "!" for failure, "?"
 * for an incomplete text at the end. */
static const char *split(bool is_list, const char *text, size_t step,
                         struct taken *t)
{
    struct json_stream s;
    struct str rest = str_from(text);
    struct error err;
    bool ok = true;

    *t = (struct taken){.text = BUF_INIT(4096), .stop_at = t->stop_at};
    json_stream_init(&s, is_list, 64, take, t);
    while (ok && rest.n) {
        size_t n = rest.n < step ? rest.n : step;
        char piece[4096];

        /* Exactly n bytes, so that a sanitizer sees reads beyond them. */
        memcpy(piece, rest.s, n);
        ok = json_stream_feed(&s, str_of(piece, n), &err);
        rest = str_skip(rest, n);
    }
    if (!ok)
        buf_add_char(&t->text, '!');
    else if (!json_stream_is_complete(&s))
        buf_add_char(&t->text, '?');
    json_stream_release(&s);
    return buf_cstr(&t->text);
}

static void expect_split(bool is_list, const char *text, const char *want)
{
    for (size_t step = 1; step < 100; step = step < 10 ? step + 1 : step * 3) {
        struct taken t = {.stop_at = 0};

        EXPECT_STR(str_from(split(is_list, text, step, &t)), want);
        buf_release(&t.text);
    }
}

TEST(events_are_split_at_their_ends)
{
    expect_split(false, "{\"a\":1}\n{\"b\":[{}]}\n",
                 "={\"a\":1}|={\"b\":[{}]}|");
    expect_split(false, "{}{}\r\n {}", "={}|={}|={}|");
    expect_split(false, "{\"a\":\"}{\\\"]\\\\\"}{}",
                 "={\"a\":\"}{\\\"]\\\\\"}|={}|");
    expect_split(false, "", "");
    expect_split(false, "{\"a\":[", "?");
    expect_split(false, "{} x", "={}|!");
    expect_split(false, "[{}]", "!");
    expect_split(false, "\"text\"", "!");
}

TEST(items_of_a_list_are_given_one_by_one)
{
    expect_split(true,
                 "{\"kind\":\"PodList\",\"metadata\":{\"x\":\"1\"},"
                 "\"items\":[{\"a\":1},{\"b\":\"]\"}]}",
                 "kind=\"PodList\"|metadata={\"x\":\"1\"}|items={\"a\":1}|"
                 "items={\"b\":\"]\"}|");
    expect_split(true, "{\"items\":[]}", "");
    expect_split(true, " { \"items\" : [ 1 , 2 ] , \"n\" : 12 } ",
                 "items=1|items=2|n=12|");
    expect_split(true, "{\"items\":null}", "items=null|");
    expect_split(true, "{}", "");
    expect_split(true, "{\"a\":1}{", "a=1|!");
    expect_split(true, "{\"items\":[{}", "items={}|?");
    expect_split(true, "{\"items\" []}", "!");
    expect_split(true, "{\"items\":[,]}", "!");
    expect_split(true, "[]", "!");
    expect_split(true, "<html>", "!");
}

TEST(values_have_a_limit)
{
    struct taken t = {.stop_at = 0};
    char text[200];

    snprintf(text, sizeof(text), "{\"a\":\"%0100d\"}", 0);
    EXPECT_STR(str_from(split(false, text, 7, &t)), "!");
    buf_release(&t.text);
}

TEST(whoever_takes_values_can_stop)
{
    struct taken t = {.stop_at = 2};

    EXPECT_STR(str_from(split(false, "{}{}{}", 100, &t)), "={}|={}|!");
    EXPECT(t.n == 2);
    buf_release(&t.text);
}

/* --- pods ----------------------------------------------------------------- */

static bool read_pod(struct arena *a, const char *json, struct kube_pod *out,
                     struct error *err)
{
    const struct document_limits limits = {1 << 20, 100000, 64};
    const struct node *root = document_read_json(
        a, (struct document_source){"pod", str_from(json)}, &limits, err);

    return root && kube_pod_read(a, root, out, err);
}

#define POD(annotations)                                                       \
    "{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"demo\","                \
    "\"uid\":\"u\",\"labels\":{\"b\":\"2\",\"a\":\"\"},"                       \
    "\"annotations\":{" annotations "}},"                                      \
    "\"spec\":{\"nodeName\":\"n1\",\"containers\":["                           \
    "{\"name\":\"app\",\"image\":\"i:1\",\"ports\":["                          \
    "{\"name\":\"pprof\",\"containerPort\":6060},"                             \
    "{\"name\":\"dns\",\"containerPort\":53,\"protocol\":\"UDP\"}]},"          \
    "{\"name\":\"side\",\"image\":\"j\",\"ports\":["                           \
    "{\"name\":\"x-pprof\",\"containerPort\":7070}]}]},"                       \
    "\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.1\","                \
    "\"hostIP\":\"10.1.0.1\",\"conditions\":[{\"type\":\"Ready\","             \
    "\"status\":\"True\"}]}}"

/* Addresses and some labels of the targets of a pod with these annotations,
 * or the error. */
static const char *targets_of(struct arena *a, const char *json,
                              enum kube_mode mode)
{
    struct kube_target_options options = {.mode = mode};
    struct kube_targets targets = {0};
    struct kube_pod pod;
    struct error err = {""};
    struct buf out = arena_buf(a);

    if (!read_pod(a, json, &pod, &err) ||
        !kube_pod_targets(a, &pod, &options, &targets, &err)) {
        EXPECT(targets.n == 0);
        return arena_cstr(a, str_from(err.text));
    }
    for (size_t i = 0; i < targets.n; i++) {
        static const char *const names[] = {
            "__address__",      "__scheme__",     "__path_prefix__",
            "__profiles__",     "__seconds__",    "__interval__",
            "__service_name__", "__tls_secret__", "container"};

        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            buf_addf(&out, "%s%" STR_FMT, k ? " " : "",
                     STR_ARG(label_set_get(&targets.v[i], str_from(names[k]))));
        buf_add_char(&out, '|');
    }
    return buf_cstr(&out);
}

#define EXPECT_TARGETS(annotations, want)                                      \
    do {                                                                       \
        struct arena *a_ = arena_new();                                        \
                                                                               \
        EXPECT_STR(                                                            \
            str_from(targets_of(a_, POD(annotations), KUBE_BY_ANNOTATION)),    \
            want);                                                             \
        arena_free(a_);                                                        \
    } while (0)

TEST(our_annotations)
{
    EXPECT_TARGETS("", "");
    EXPECT_TARGETS("\"pprof/scrape\":\"false\",\"profefe.com/enable\":\"true\"",
                   "");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\"",
                   "10.0.0.1:6060 http /debug/pprof    web-1  app|"
                   "10.0.0.1:7070 http /debug/pprof    web-1  side|");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/port\":\"pprof\"",
                   "10.0.0.1:6060 http /debug/pprof    web-1  app|");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\","
                   "\"pprof/port\":\"6060, 9999,x-pprof,\"",
                   "10.0.0.1:6060 http /debug/pprof    web-1  app|"
                   "10.0.0.1:9999 http /debug/pprof    web-1  |"
                   "10.0.0.1:7070 http /debug/pprof    web-1  side|");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/port\":\"6060,pprof\"",
                   "10.0.0.1:6060 http /debug/pprof    web-1  app|");
    EXPECT_TARGETS(
        "\"pprof/scrape\":\"true\",\"pprof/port\":\"1\",\"pprof/path\":"
        "\"x/pprof/\",\"pprof/scheme\":\"https\",\"pprof/profiles\":"
        "\"cpu,heap\",\"pprof/seconds\":\"5\",\"pprof/interval\":\"2m\","
        "\"pprof/service\":\"shop\",\"pprof/tls-secret\":\"tls\"",
        "10.0.0.1:1 https /x/pprof cpu,heap 5 2m shop demo/tls |");
}

TEST(wrong_annotations_are_explained)
{
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/port\":\"nosuch\"",
                   "pod demo/web-1: pprof/port: no container has a TCP port "
                   "named \"nosuch\"");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/port\":\"dns\"",
                   "pod demo/web-1: pprof/port: no container has a TCP port "
                   "named \"dns\"");
    EXPECT_TARGETS(
        "\"pprof/scrape\":\"true\",\"pprof/port\":\"70000\"",
        "pod demo/web-1: pprof/port: \"70000\" is not a port number");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/scheme\":\"ftp\"",
                   "pod demo/web-1: pprof/scheme: \"ftp\" is neither http nor "
                   "https");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/seconds\":\"0\"",
                   "pod demo/web-1: pprof/seconds: \"0\" is not a number of "
                   "seconds from 1 to 3600");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/interval\":\"often\"",
                   "pod demo/web-1: pprof/interval: \"often\" is not a "
                   "duration such as 30s or 5m");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/profiles\":\"a;b\"",
                   "pod demo/web-1: pprof/profiles: \"a;b\" is not a list "
                   "such as cpu,heap,mutex");
    EXPECT_TARGETS("\"pprof/scrape\":\"true\",\"pprof/tls-secret\":\"x/y\"",
                   "pod demo/web-1: pprof/tls-secret: \"x/y\" is in another "
                   "namespace than the pod");
    EXPECT_TARGETS("\"profefe.com/enable\":\"true\",\"profefe.com/port\":\"h\"",
                   "pod demo/web-1: profefe.com/port: no container has a TCP "
                   "port named \"h\"");
}

TEST(annotations_of_kube_profefe)
{
    EXPECT_TARGETS("\"profefe.com/enable\":\"True\"", "");
    EXPECT_TARGETS("\"profefe.com/enable\":\"true\"",
                   "10.0.0.1:6060 http /debug/pprof    web-1  app|");
    EXPECT_TARGETS("\"profefe.com/enable\":\"true\",\"profefe.com/port\":"
                   "\"7070\",\"profefe.com/service\":\"shop\","
                   "\"profefe.com/path\":\"/x\"",
                   "10.0.0.1:7070 http /x    shop  side|");
}

#define G "\"profiles.grafana.com/"

TEST(annotations_of_grafana)
{
    EXPECT_TARGETS(G "cpu.scrape\":\"false\"", "");
    EXPECT_TARGETS(G "cpu.scrape\":\"true\"," G "cpu.port_name\":\"pprof\"," G
                     "memory.scrape\":\"true\"," G "memory.port\":\"6060\"",
                   "10.0.0.1:6060 http /debug/pprof cpu,allocs   web-1  app|");
    EXPECT_TARGETS(G "memory.scrape\":\"true\"," G "memory.port\":\"1\"," G
                     "memory.path\":\"/x/heap\"," G "memory.scheme\":\"https\"",
                   "10.0.0.1:1 https /x heap   web-1  |");
    EXPECT_TARGETS(G "mutex.scrape\":\"true\"",
                   "10.0.0.1:6060 http /debug/pprof mutex   web-1  app|"
                   "10.0.0.1:7070 http /debug/pprof mutex   web-1  side|");
    EXPECT_TARGETS(G "cpu.scrape\":\"true\"," G "cpu.path\":\"/x\"",
                   "pod demo/web-1: profiles.grafana.com/cpu.path: \"/x\" "
                   "does not end in /profile");
    EXPECT_TARGETS(G "cpu.scrape\":\"true\"," G "cpu.port_name\":\"q\"",
                   "pod demo/web-1: profiles.grafana.com/cpu.port_name: no "
                   "container has a TCP port named \"q\"");
}

TEST(a_record_is_the_pod_again)
{
    struct arena *a = arena_new();
    struct buf one = BUF_INIT(1 << 20), two = BUF_INIT(1 << 20);
    struct kube_pod pod, again;
    struct error err;

    EXPECT(
        read_pod(a, POD("\"pprof/scrape\":\"true\",\"x\":\"y\""), &pod, &err));
    pod_record_write(&one, &pod);
    EXPECT(pod_record_read(a, buf_str(&one), &again));
    pod_record_write(&two, &again);
    EXPECT(str_eq(buf_str(&one), buf_str(&two)));
    EXPECT(again.n_labels == 2 && again.n_containers == 2);
    EXPECT_STR(again.labels[0].name, "a");
    EXPECT_STR(again.ready, "true");
    EXPECT(again.containers[0].ports[1].number == 53);
    /* A record that is cut anywhere is none. */
    for (size_t n = 0; n < one.len; n++)
        EXPECT(!pod_record_read(a, str_first(buf_str(&one), n), &again));
    buf_release(&one);
    buf_release(&two);
    arena_free(a);
}

TEST(an_object_of_another_kind_is_no_pod)
{
    static const char *const bad[] = {
        "[]",
        "{}",
        "{\"metadata\":{}}",
        "{\"metadata\":[]}",
        "{\"metadata\":{\"name\":[]}}",
        "{\"metadata\":{\"name\":\"x\",\"labels\":[]}}",
        "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":{}}}}",
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[7]}}",
        ("{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":"
         "[{\"ports\":[{\"containerPort\":99999}]}]}}"),
        "{\"metadata\":{\"name\":\"x\"},\"status\":{\"conditions\":{}}}"};
    struct arena *a = arena_new();
    struct kube_pod pod;
    struct error err;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        err.text[0] = '\0';
        EXPECT(!read_pod(a, bad[i], &pod, &err));
        EXPECT(err.text[0]);
    }
    EXPECT(read_pod(a,
                    "{\"metadata\":{\"name\":\"x\",\"labels\":null},"
                    "\"spec\":{\"containers\":null},\"status\":{}}",
                    &pod, &err));
    arena_free(a);
}

TEST(large_annotations_are_left_out)
{
    struct arena *a = arena_new();
    char *filler = arena_alloc(a, 601);
    struct kube_pod pod;
    struct error err;
    char *json;

    memset(filler, 'x', 600);
    json = arena_printf(a,
                        "{\"metadata\":{\"name\":\"x\",\"annotations\":{"
                        "\"manifest\":\"%s\",\"pprof/x\":\"%s\",\"s\":\"\"}}}",
                        filler, filler);
    EXPECT(read_pod(a, json, &pod, &err));
    EXPECT(pod.n_annotations == 2);
    EXPECT(kube_pod_annotation(&pod, STR("pprof/x")).n == 600);
    arena_free(a);
}

static void expect_owner(struct kube_pod pod, const char *kind,
                         const char *name)
{
    struct kube_owner owner = kube_pod_owner(&pod);

    EXPECT_STR(owner.kind, kind);
    EXPECT_STR(owner.name, name);
}

#define OWNED(k, n)                                                            \
    .name = STR("p"), .controller_kind = STR(k), .controller_name = STR(n)

TEST(owners)
{
    const struct kube_pair hash = {STR("pod-template-hash"), STR("f77")};
    /* 29401234 minutes, 1764074040 seconds: 2025-11-25T12:34 */
    int64_t made = 1764074045 * SECOND;

    expect_owner((struct kube_pod){.name = STR("p")}, "", "");
    expect_owner((struct kube_pod){OWNED("ReplicaSet", "web-f77"),
                                   .labels = &hash, .n_labels = 1},
                 "Deployment", "web");
    expect_owner((struct kube_pod){OWNED("ReplicaSet", "web-x"),
                                   .labels = &hash, .n_labels = 1},
                 "ReplicaSet", "web-x");
    expect_owner((struct kube_pod){OWNED("ReplicaSet", "f77"), .labels = &hash,
                                   .n_labels = 1},
                 "ReplicaSet", "f77");
    expect_owner((struct kube_pod){OWNED("ReplicaSet", "web-f77")},
                 "ReplicaSet", "web-f77");
    expect_owner((struct kube_pod){OWNED("StatefulSet", "db")}, "StatefulSet",
                 "db");
    expect_owner(
        (struct kube_pod){OWNED("Job", "report-29401234"), .created_ns = made},
        "CronJob", "report");
    expect_owner((struct kube_pod){OWNED("Job", "report-1764074040"),
                                   .created_ns = made},
                 "CronJob", "report");
    expect_owner(
        (struct kube_pod){OWNED("Job", "import-20251125"), .created_ns = made},
        "Job", "import-20251125");
    expect_owner((struct kube_pod){OWNED("Job", "import"), .created_ns = made},
                 "Job", "import");
    expect_owner((struct kube_pod){.name = STR("etcd-node-1"),
                                   .controller_kind = STR("Node"),
                                   .controller_name = STR("node-1")},
                 "Node", "etcd");
}

/* --- the table ------------------------------------------------------------ */

static struct kube_pod simple_pod(const char *name, const char *ip)
{
    static const struct kube_pair ask = {STR_INIT("pprof/scrape"),
                                         STR_INIT("true")};

    return (struct kube_pod){
        .name = str_from(name),
        .namespace_name = STR("demo"),
        .ip = str_from(ip),
        .phase = STR("Running"),
        .annotations = &ask,
        .n_annotations = 1,
    };
}

TEST(the_version_changes_with_the_pods)
{
    const struct kube_target_options options = {0};
    struct kube_pod pod = simple_pod("a", "10.0.0.1"), none = {STR("b")};
    struct pod_table t;
    struct error err;
    uint64_t version;

    EXPECT(pod_table_init(&t, &options, 1 << 20, &err));
    version = pod_table_version(&t);
    EXPECT(pod_table_put(&t, &pod, 0, 1, &err));
    EXPECT(pod_table_version(&t) != version);
    version = pod_table_version(&t);
    EXPECT(pod_table_put(&t, &pod, 0, 2, &err));
    EXPECT(pod_table_put(&t, &none, 0, 2, &err)); /* asks for nothing */
    pod_table_remove(&t, STR("demo"), STR("nosuch"));
    pod_table_sweep(&t, 0, 2);
    pod_table_sweep(&t, 1, 9); /* of another source */
    EXPECT(pod_table_version(&t) == version && pod_table_count(&t) == 1);
    pod_table_sweep(&t, 0, 3);
    EXPECT(pod_table_version(&t) != version && pod_table_count(&t) == 0);
    EXPECT(t.bytes == 0);
    pod_table_release(&t);
}

TEST(many_pods)
{
    const struct kube_target_options options = {0};
    struct arena *a = arena_new();
    struct kube_targets targets;
    struct pod_table t;
    struct error err, bad;
    size_t n_bad;

    EXPECT(pod_table_init(&t, &options, 1 << 24, &err));
    for (int i = 0; i < 5000; i++) {
        struct kube_pod pod =
            simple_pod(arena_printf(a, "pod-%d", i), "1.1.1.1");

        EXPECT(pod_table_put(&t, &pod, 0, 1, &err));
    }
    for (int i = 0; i < 5000; i += 2)
        pod_table_remove(&t, STR("demo"),
                         str_from(arena_printf(a, "pod-%d", i)));
    EXPECT(pod_table_targets(&t, a, &targets, &n_bad, &bad, &err));
    EXPECT(targets.n == 2500 && n_bad == 0);
    pod_table_release(&t);
    arena_free(a);
}

TEST(the_table_has_a_limit)
{
    const struct kube_target_options options = {0};
    struct pod_table t;
    struct error err = {""};
    bool ok = true;

    EXPECT(pod_table_init(&t, &options, 1000, &err));
    for (char name[] = "a"; ok && name[0] <= 'z'; name[0]++) {
        struct kube_pod pod = simple_pod(name, "1.1.1.1");

        ok = pod_table_put(&t, &pod, 0, 1, &err);
    }
    EXPECT(!ok && t.bytes <= 1000 && t.n > 1);
    EXPECT(strstr(err.text, "more than 1000 bytes"));
    pod_table_release(&t);
}

/* --- list and watch ------------------------------------------------------- */

struct scene {
    struct pod_table table;
    struct list_watch lw;
    struct buf url;
    int64_t now_ns;
};

static void scene_open(struct scene *s)
{
    const struct kube_target_options options = {0};
    struct error err;

    *s = (struct scene){.url = BUF_INIT(4096), .now_ns = 1000 * SECOND};
    EXPECT(pod_table_init(&s->table, &options, 1 << 20, &err));
    list_watch_init(&s->lw,
                    &(struct list_watch_options){
                        .namespace_name = STR("demo"),
                        .label_selector = STR("app in (a,b)"),
                        .page = 2,
                        .watch_seconds = 100,
                        .min_pause_ns = SECOND,
                        .max_pause_ns = 30 * SECOND,
                        .max_object_bytes = 10000,
                    },
                    &s->table);
}

static void scene_close(struct scene *s)
{
    list_watch_release(&s->lw);
    pod_table_release(&s->table);
    buf_release(&s->url);
}

/* One request with this answer; how long it had to wait before. */
static int64_t play(struct scene *s, int status, const char *body,
                    bool is_whole)
{
    int64_t waited_ns = s->lw.due_ns > s->now_ns ? s->lw.due_ns - s->now_ns : 0;

    s->now_ns += waited_ns;
    buf_clear(&s->url);
    list_watch_begin(&s->lw, s->now_ns, &s->url);
    if (status) {
        list_watch_answer(&s->lw, status, 0);
        is_whole = list_watch_body(&s->lw, str_from(body)) && is_whole;
    }
    list_watch_end(&s->lw, is_whole, "connection refused", s->now_ns);
    return waited_ns;
}

#define ITEM(name)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"demo\","             \
    "\"resourceVersion\":\"7\",\"annotations\":{\"pprof/scrape\":\"true\"}}}"
#define EVENT(type, name) "{\"type\":\"" type "\",\"object\":" ITEM(name) "}\n"
#define LIST(version, page, items)                                             \
    "{\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" page  \
    "\"},\"items\":[" items "]}"

TEST(a_list_in_pages_then_a_watch)
{
    struct scene s;

    scene_open(&s);
    EXPECT(play(&s, 200, LIST("50", "next", ITEM("a") "," ITEM("b")), true) ==
           0);
    EXPECT_STR(buf_str(&s.url), "/api/v1/namespaces/demo/pods?limit=2"
                                "&labelSelector=app%20in%20%28a%2Cb%29");
    EXPECT(!list_watch_is_fine(&s.lw));
    EXPECT(play(&s, 200, LIST("60", "", ITEM("c")), true) == 0);
    EXPECT(str_contains(buf_str(&s.url), STR("continue=next")));
    EXPECT(list_watch_is_fine(&s.lw) && pod_table_count(&s.table) == 3);
    EXPECT(play(&s, 200, EVENT("DELETED", "a") EVENT("ADDED", "d"), true) == 0);
    /* The first page's version counts. */
    EXPECT(str_contains(buf_str(&s.url), STR("resourceVersion=50&")));
    EXPECT(str_contains(buf_str(&s.url), STR("allowWatchBookmarks=true")));
    EXPECT(pod_table_count(&s.table) == 3 && s.lw.events == 2);
    play(&s, 200, "", true);
    EXPECT(str_contains(buf_str(&s.url), STR("resourceVersion=7&")));
    scene_close(&s);
}

TEST(an_expired_version_leads_to_a_list)
{
    static const char gone[] =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"message\":"
        "\"too old resource version: 1 (967)\",\"reason\":\"Expired\","
        "\"code\":410}}\n";
    struct scene s;
    int64_t waited = 0;

    scene_open(&s);
    play(&s, 200, LIST("50", "", ITEM("a")), true);
    play(&s, 200, gone, true);
    EXPECT_STR(str_from(s.lw.problem.text),
               "watch pods in namespace demo: "
               "410: too old resource version: 1 (967)");
    EXPECT(pod_table_count(&s.table) == 1);
    waited = play(&s, 200, LIST("70", "", ITEM("b")), true);
    EXPECT(waited >= SECOND / 2 && waited <= SECOND);
    EXPECT(str_contains(buf_str(&s.url), STR("limit=2")));
    EXPECT(pod_table_count(&s.table) == 1 && s.lw.lists == 2);
    /* Again and again: the pauses grow, although every list is fine. */
    for (int i = 0; i < 6; i++) {
        play(&s, 200, gone, true);
        waited = play(&s, 200, LIST("70", "", ITEM("b")), true);
    }
    EXPECT(waited >= 15 * SECOND && waited <= 30 * SECOND);
    /* An event ends that. */
    play(&s, 200, EVENT("BOOKMARK", "x"), true);
    EXPECT(s.lw.failures == 0);
    scene_close(&s);
}

TEST(failures_keep_the_pods_and_the_version)
{
    static const int statuses[] = {0, 401, 403, 429, 503};
    struct scene s;

    scene_open(&s);
    play(&s, 200, LIST("50", "", ITEM("a")), true);
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        play(&s, statuses[i], "{\"message\":\"why\"}", true);
        EXPECT(!list_watch_is_fine(&s.lw) && s.lw.phase == WATCHING);
    }
    EXPECT_STR(str_from(s.lw.problem.text),
               "watch pods in namespace demo: 503: why");
    EXPECT(pod_table_count(&s.table) == 1);
    EXPECT(play(&s, 200, EVENT("ADDED", "b"), true) >= 8 * SECOND);
    EXPECT(str_contains(buf_str(&s.url), STR("resourceVersion=50&")));
    EXPECT(list_watch_is_fine(&s.lw) && pod_table_count(&s.table) == 2);
    scene_close(&s);
}

TEST(a_watch_that_is_cut_off_goes_on)
{
    struct scene s;

    scene_open(&s);
    play(&s, 200, LIST("50", "", ""), true);
    play(&s, 200, EVENT("ADDED", "a") "{\"type\":\"ADD", false);
    EXPECT(s.lw.phase == WATCHING && pod_table_count(&s.table) == 1);
    play(&s, 200, EVENT("DELETED", "a"), true);
    EXPECT(str_contains(buf_str(&s.url), STR("resourceVersion=7&")));
    EXPECT(pod_table_count(&s.table) == 0);
    scene_close(&s);
}

TEST(an_incomplete_list_removes_nothing)
{
    struct scene s;

    scene_open(&s);
    play(&s, 200, LIST("50", "", ITEM("a") "," ITEM("b")), true);
    play(&s, 500, "", true); /* not resumed: a list follows */
    EXPECT(s.lw.phase == LISTING);
    play(&s, 200, "{\"items\":[" ITEM("a"), true);
    EXPECT_STR(str_from(s.lw.problem.text),
               "list pods in namespace demo: the reply ends in the middle");
    play(&s, 200, LIST("60", "p2", ITEM("a")), true);
    play(&s, 410, "{\"message\":\"expired\"}", true);
    EXPECT(pod_table_count(&s.table) == 2);
    play(&s, 200, LIST("60", "", ITEM("a")), true);
    EXPECT(str_find(buf_str(&s.url), STR("continue")) < 0);
    EXPECT(pod_table_count(&s.table) == 1);
    scene_close(&s);
}

/* A proxy's or an old server's JSON must not empty the table. */
TEST(a_reply_that_is_no_list_removes_nothing)
{
    static const char *const bodies[] = {
        "{}", "{\"items\":[]}", "{\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{},\"items\":[]}", "{\"error\":\"login first\"}"};
    struct scene s;

    scene_open(&s);
    play(&s, 200, LIST("50", "", ITEM("a")), true);
    play(&s, 500, "", true);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        play(&s, 200, bodies[i], true);
        EXPECT(!list_watch_is_fine(&s.lw) && s.lw.phase == LISTING);
        EXPECT(pod_table_count(&s.table) == 1);
    }
    play(&s, 200, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":null}",
         true);
    EXPECT(list_watch_is_fine(&s.lw) && pod_table_count(&s.table) == 0);
    scene_close(&s);
}

TEST(a_silent_watch_leads_to_a_list)
{
    struct scene s;

    scene_open(&s);
    play(&s, 200, LIST("50", "", ITEM("a")), true);
    /* Silent for all its time. */
    list_watch_begin(&s.lw, s.now_ns, &s.url);
    list_watch_answer(&s.lw, 200, 0);
    list_watch_end(&s.lw, true, "", s.now_ns + 150 * SECOND);
    EXPECT(s.lw.phase == LISTING);
    scene_close(&s);
}

TEST_MAIN
