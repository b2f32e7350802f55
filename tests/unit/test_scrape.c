/*
 * What scraping is made of: targets from labels, times, the choice of
 * profiles from an index page, mistakes in a configuration, and that the
 * reference in docs/scraping.md has every key of the table.
 */
#include "test.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "collector/scrape/choose.h"
#include "collector/scrape/schedule.h"
#include "collector/scrape/sink_store.h"
#include "collector/scrape/target.h"

static struct scrape_config *config_of(const char *yaml, struct error *err)
{
    return scrape_config_read_text(
        (struct document_source){"pprofd.yaml", str_from(yaml)}, err);
}

static const char *mistake(const char *yaml)
{
    static struct error err;
    struct scrape_config *c = config_of(yaml, &err);

    if (c) {
        scrape_config_free(c);
        return "no mistake";
    }
    return err.text;
}

#define EXPECT_MISTAKE(yaml, want) EXPECT_STR(str_from(mistake(yaml)), want)

TEST(mistakes_have_a_place_and_a_suggestion)
{
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  scrape_intervall: 5s\n",
                   "pprofd.yaml:3:3: scrape_configs[0].scrape_intervall is "
                   "not a known key: did you mean scrape_interval?");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  scrape_interval: 5\n",
                   "pprofd.yaml:3:20: scrape_configs[0].scrape_interval must "
                   "be a duration: write 30s, 5m or 1h30m");
    EXPECT_MISTAKE("scrape_configs:\n- scheme: http\n",
                   "pprofd.yaml:2:3: scrape_configs[0] needs a job_name");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  scheme: ftp\n",
                   "pprofd.yaml:3:11: scrape_configs[0].scheme must be http or "
                   "https");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n- job_name: a\n",
                   "pprofd.yaml:3:13: scrape_configs[1].job_name must be "
                   "different for each job: job 1 has this name too");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  tls_config: {cert_file: "
                   "x}\n",
                   "pprofd.yaml:3:15: scrape_configs[0].tls_config needs "
                   "cert_file and key_file, or neither");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  bearer_token: x\n"
                   "  basic_auth: {username: u}\n",
                   "pprofd.yaml:2:3: scrape_configs[0] has more than one way "
                   "to authenticate: keep one of bearer_token, "
                   "bearer_token_file, authorization and basic_auth");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  profiles: [CPU]\n",
                   "pprofd.yaml:3:13: scrape_configs[0].profiles has \"CPU\", "
                   "which cannot be a profile: names are lower-case letters, "
                   "digits and _");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  dns_sd_configs:\n"
                   "  - {names: [x], type: A}\n",
                   "pprofd.yaml:4:3: scrape_configs[0].dns_sd_configs needs a "
                   "port from 1 to 65535 for the type A");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  dns_sd_configs:\n"
                   "  - {names: [x], nameserver: \"127.0.0.1:0\"}\n",
                   "pprofd.yaml:4:3: scrape_configs[0].dns_sd_configs needs an "
                   "address like 127.0.0.1:53 as nameserver");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  dns_sd_configs:\n"
                   "  - {names: [x], nameserver: dns.example}\n",
                   "pprofd.yaml:4:3: scrape_configs[0].dns_sd_configs needs an "
                   "address like 127.0.0.1:53 as nameserver");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  kubernetes_sd_configs:\n"
                   "  - role: node\n",
                   "pprofd.yaml:4:5: scrape_configs[0].kubernetes_sd_configs"
                   "[0] has the role node: pod is the only one that can be "
                   "scraped");
    EXPECT_MISTAKE("scrape_configs:\n- job_name: a\n  static_configs:\n"
                   "  - targets: [x]\n    labels: {a-b: c}\n",
                   "pprofd.yaml:5:14: scrape_configs[0].static_configs[0]."
                   "labels.a-b cannot be a label: names are letters, digits "
                   "and _");
}

/* --- targets -------------------------------------------------------------- */

/* The first static target of the first job: "url|prefix|query|service|
 * labels|profiles|interval". */
static const char *target_of(const char *yaml)
{
    static char result[4096];
    struct error err = {""};
    struct scrape_config *c = config_of(yaml, &err);
    struct arena *a = arena_new();
    struct target t, *copy;
    int at = 0;

    snprintf(result, sizeof(result), "%s", err.text);
    if (!c || target_make(&t, a, &c->jobs[0], &c->jobs[0].statics.list.v[0],
                          &err) != TARGET_KEPT) {
        snprintf(result, sizeof(result), "%s",
                 err.text[0] ? err.text : "dropped");
    } else {
        copy = target_copy(&t);
        at += snprintf(result + at, sizeof(result) - (size_t)at,
                       "%" STR_FMT "|%" STR_FMT "|%" STR_FMT "|%" STR_FMT,
                       STR_ARG(copy->url), STR_ARG(copy->path_prefix),
                       STR_ARG(copy->query), STR_ARG(copy->service));
        for (size_t i = 0; i < copy->labels.n; i++)
            at += snprintf(result + at, sizeof(result) - (size_t)at,
                           "%s%" STR_FMT "=%" STR_FMT, i ? "," : "|",
                           STR_ARG(copy->labels.v[i].name),
                           STR_ARG(copy->labels.v[i].value));
        for (size_t i = 0; i < copy->n_profiles; i++)
            at += snprintf(result + at, sizeof(result) - (size_t)at,
                           "%s%" STR_FMT ":%" STR_FMT ":%lld%s", i ? "," : "|",
                           STR_ARG(copy->profiles[i].kind.type),
                           STR_ARG(copy->profiles[i].path.n
                                       ? copy->profiles[i].path
                                       : copy->profiles[i].kind.path),
                           (long long)(copy->profiles[i].seconds_ns / SECOND),
                           copy->profiles[i].delta ? "d" : "");
        free(copy);
    }
    arena_free(a);
    scrape_config_free(c);
    return result;
}

#define EXPECT_TARGET(yaml, want) EXPECT_STR(str_from(target_of(yaml)), want)

TEST(targets_have_service_and_instance)
{
    EXPECT_TARGET("scrape_configs:\n- job_name: api\n  static_configs:\n"
                  "  - {targets: ['h:1']}\n",
                  "http://h:1|/debug/pprof||api|instance=h:1,job=api");
    EXPECT_TARGET("scrape_configs:\n- job_name: api\n  static_configs:\n"
                  "  - {targets: ['h:1'], labels: {service: s, region: eu}}\n",
                  "http://h:1|/debug/pprof||s|instance=h:1,job=api,region=eu");
    EXPECT_TARGET("scrape_configs:\n- job_name: api\n  static_configs:\n"
                  "  - {targets: ['h:1'], labels: {__service_name__: s, "
                  "instance: i}}\n",
                  "http://h:1|/debug/pprof||s|instance=i,job=api");
}

TEST(labels_override_the_job)
{
    EXPECT_TARGET(
        "scrape_configs:\n- job_name: api\n  params: {a: [x y, z]}\n"
        "  static_configs:\n"
        "  - {targets: ['h:1'], labels: {__scheme__: https, __path_prefix__: "
        "/x/, __profiles__: 'cpu, heap,custom', __seconds__: '5', "
        "__interval__: 30s, __param_b: c}}\n",
        "https://h:1|/x|a=x+y&b=c&a=z|api|instance=h:1,job=api|cpu:profile:5,"
        "heap:heap:0,custom:custom:0");
}

TEST(labels_that_cannot_be)
{
    EXPECT_TARGET("scrape_configs:\n- job_name: a\n  static_configs:\n"
                  "  - {targets: ['http://h/x']}\n",
                  "__address__ is \"http://h/x\": it must be host:port");
    EXPECT_TARGET("scrape_configs:\n- job_name: a\n  static_configs:\n"
                  "  - {targets: ['h'], labels: {__scheme__: gopher}}\n",
                  "__scheme__ is \"gopher\": it must be http or https");
    EXPECT_TARGET("scrape_configs:\n- job_name: a\n  static_configs:\n"
                  "  - {targets: ['h'], labels: {__interval__: soon}}\n",
                  "__interval__ is \"soon\": it must be a duration from 1s to "
                  "24h");
    EXPECT_TARGET("scrape_configs:\n- job_name: a\n  static_configs:\n"
                  "  - {targets: ['h']}\n"
                  "  relabel_configs: [{action: drop}]\n",
                  "dropped");
}

TEST(parcas_configuration)
{
    EXPECT_TARGET(
        "object_storage: {bucket: {type: FILESYSTEM}}\n"
        "scrape_configs:\n"
        "- job_name: default\n"
        "  scrape_interval: 45s\n"
        "  scrape_timeout: 1m\n"
        "  normalized_addresses: true\n"
        "  static_configs:\n"
        "  - targets: ['127.0.0.1:7070']\n"
        "  profiling_config:\n"
        "    path_prefix: /app\n"
        "    pprof_config:\n"
        "      memory: {enabled: true, path: /debug/pprof/allocs}\n"
        "      block: {enabled: false}\n"
        "      mutex:\n"
        "      process_cpu: {enabled: true, delta: true, path: "
        "/debug/pprof/profile}\n"
        "      fgprof: {path: /debug/fgprof, seconds: 10, delta: true}\n",
        "http://127.0.0.1:7070|/app/debug/pprof||default|instance="
        "127.0.0.1:7070,job=default|allocs:/app/debug/pprof/allocs:0,mutex:"
        "mutex:0,cpu:/app/debug/pprof/profile:45,fgprof:/app/debug/fgprof:10,"
        "goroutine:goroutine:0");
    EXPECT_TARGET(
        "scrape_configs:\n- job_name: d\n  static_configs: [{targets: [h]}]\n"
        "  profiling_config: {pprof_config: {memory: {path: /debug/pprof/heap, "
        "delta: true, seconds: 3}}}\n",
        "http://h|/debug/pprof||d|instance=h,job=d|heap:/debug/pprof/heap:3d,"
        "block:block:0,goroutine:goroutine:0,mutex:mutex:0,cpu:profile:10");
    EXPECT_TARGET(
        "scrape_configs:\n- job_name: d\n  static_configs: [{targets: [h]}]\n"
        "  profiling_config: {pprof_config: {memory: {enabled: false}, block: "
        "{enabled: false}, mutex: {enabled: false}, process_cpu: {enabled: "
        "false}}}\n",
        "http://h|/debug/pprof||d|instance=h,job=d|goroutine:goroutine:0");
}

/* --- index pages ---------------------------------------------------------- */

static const char *chosen_of(const char *rows)
{
    static char result[512];
    struct scrape_job job = {.interval_ns = 60 * SECOND};
    struct buf page = BUF_INIT(1 << 16);
    struct chosen c;
    int at;

    if (*rows)
        buf_addf(&page, "<title>/debug/pprof/</title><table>%s</table>", rows);
    choose_profiles(&job, buf_str(&page), &c);
    at = snprintf(result, sizeof(result), "%s:", flavour_words(c.flavour));
    for (size_t i = 0; i < c.n; i++)
        at += snprintf(result + at, sizeof(result) - (size_t)at, " %" STR_FMT,
                       STR_ARG(c.v[i].kind.name));
    buf_release(&page);
    return result;
}

#define ROW(count, name)                                                       \
    "<tr><td>" #count "</td><td><a href='" name "?debug=1'>" name              \
    "</a></td></tr>"

#define OLD_ROW(count, name)                                                   \
    "\n<tr><td align=right>" #count "<td><a href=\"" name "?debug=1\">" name   \
    "</a>\n"

TEST(the_index_page_decides)
{
    EXPECT_STR(
        str_from(chosen_of(ROW(5, "allocs") ROW(0, "block") ROW(7, "goroutine")
                               ROW(5, "heap") ROW(2, "mutex") ROW(0, "profile")
                                   ROW(8, "threadcreate") ROW(0, "trace"))),
        "Go: cpu heap mutex goroutine");
    EXPECT_STR(str_from(chosen_of(ROW(7, "goroutine") ROW(5, "heap")
                                      ROW(8, "threadcreate"))),
               "Go before 1.11: cpu heap goroutine");
    EXPECT_STR(str_from(chosen_of(OLD_ROW(0, "block") OLD_ROW(7, "goroutine")
                                      OLD_ROW(5, "heap") OLD_ROW(2, "mutex")
                                          OLD_ROW(8, "threadcreate"))),
               "Go before 1.11: cpu heap mutex goroutine");
    EXPECT_STR(str_from(chosen_of(ROW(5, "allocs") ROW(7, "goroutine") ROW(
                   5, "heap") ROW(1, "delta_heap") ROW(1, "delta_mutex")
                                      ROW(3, "mutex") ROW(8, "threadcreate"))),
               "Go: goroutine godeltaprof_memory godeltaprof_mutex");
    EXPECT_STR(str_from(chosen_of(ROW(1, "heap") ROW(0, "leak")
                                      ROW(0, "profile") ROW(0, "wall"))),
               "pprof-c: cpu heap");
    EXPECT_STR(str_from(chosen_of("")), ": cpu heap");
}

/* --- times ---------------------------------------------------------------- */

TEST(times_are_aligned_and_in_the_future)
{
    int64_t minute = 60 * SECOND, now = 1794975505 * SECOND + 5;

    for (uint64_t phase = 0; phase < 70; phase++) {
        int64_t next = schedule_next(now, minute, phase * (uint64_t)SECOND);

        EXPECT(next > now && next <= now + minute);
        EXPECT(next % minute == (int64_t)(phase % 60) * SECOND);
        EXPECT(schedule_next(next, minute, phase * (uint64_t)SECOND) ==
               next + minute);
    }
}

TEST(back_off_doubles_up_to_five_minutes)
{
    int64_t minute = 60 * SECOND;

    EXPECT(schedule_backoff(minute, 0) == 1);
    EXPECT(schedule_backoff(minute, 1) == 1);
    EXPECT(schedule_backoff(minute, 2) == 2);
    EXPECT(schedule_backoff(minute, 3) == 4);
    EXPECT(schedule_backoff(minute, 4) == 5);
    EXPECT(schedule_backoff(minute, 1000) == 5);
    EXPECT(schedule_backoff(3600 * SECOND, 9) == 1);
}

TEST(the_schedule_is_sorted)
{
    enum { N = 500 };
    static struct schedule_item items[N];
    struct schedule s = {0};
    uint64_t random = 1;
    int64_t last = -1;
    size_t n = 0;

    for (size_t i = 0; i < N; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        items[i].due_ns = (int64_t)(random >> 40);
        EXPECT(schedule_add(&s, &items[i]));
    }
    for (size_t i = 0; i < N; i += 3)
        schedule_remove(&s, &items[i]);
    for (struct schedule_item *i; (i = schedule_first(&s)) != NULL; n++) {
        EXPECT(i->due_ns >= last);
        last = i->due_ns;
        schedule_remove(&s, i);
        EXPECT(i->at == 0);
    }
    EXPECT(n == N - (N + 2) / 3);
    schedule_release(&s);
}

/* --- the reference -------------------------------------------------------- */

/* The row of the reference for a key. */
static void add_row(struct buf *out, const struct config_key *k)
{
    buf_addf(out, "| `%s` | %s | %s%s%s | `%s` |\n", k->key, k->meaning,
             k->fallback[0] ? "`" : "", k->fallback, k->fallback[0] ? "`" : "",
             k->example);
}

TEST(the_reference_has_every_key)
{
    struct buf page = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
    struct str text;
    struct error err;
    size_t rows = 0;

    if (!file_read(PPROF_DOCS "/scraping.md", &page, &err)) {
        printf("# %s\n", err.text);
        EXPECT(!"the reference cannot be read");
        return;
    }
    for (size_t i = 0; i < config_keys_n; i++) {
        if (i == 0 || strcmp(config_keys[i].map, config_keys[i - 1].map) != 0) {
            buf_clear(&want);
            buf_addf(&want, "### `%s`\n", config_keys[i].map);
            if (!str_contains(buf_str(&page), buf_str(&want)))
                EXPECT_STR(STR("no section"), buf_cstr(&want));
        }
        buf_clear(&want);
        add_row(&want, &config_keys[i]);
        if (!str_contains(buf_str(&page), buf_str(&want)))
            EXPECT_STR(STR("no such row"), buf_cstr(&want));
    }
    /* and nothing else: a row of the reference starts with "| `" */
    text = buf_str(&page);
    for (ptrdiff_t at; (at = str_find(text, STR("\n| `"))) >= 0; rows++)
        text = str_skip(text, (size_t)at + 4);
    EXPECT(rows == config_keys_n);
    buf_release(&page);
    buf_release(&want);
}

TEST_MAIN
