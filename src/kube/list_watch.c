/*
 * The state machine; list_watch.h describes the behaviour that it handles.
 *
 * Every object is read in a memory scope of its own, so that one that is
 * built to need much memory is refused and nothing else suffers.
 */
#include "kube/list_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory_scope.h"
#include "base/percent.h"
#include "config/document.h"

#define MAX_COMPLAINT_BYTES ((size_t)16 << 10)
#define MAX_PAGE_BYTES      ((size_t)8 << 10)
#define MAX_RETRY_AFTER     (60 * SECOND)
/* A tree of nodes is larger than its text. */
#define MEMORY_PER_BYTE 64

void list_watch_init(struct list_watch *lw,
                     const struct list_watch_options *options,
                     struct pod_table *table)
{
    *lw = (struct list_watch){
        .options = *options,
        .table = table,
        .page = BUF_INIT(MAX_PAGE_BYTES),
        .complaint = BUF_INIT(MAX_COMPLAINT_BYTES),
        .random = hash_seed(lw),
    };
    error_set(&lw->problem, "not listed yet");
}

void list_watch_release(struct list_watch *lw)
{
    json_stream_release(&lw->stream);
    buf_release(&lw->page);
    buf_release(&lw->complaint);
}

bool list_watch_is_fine(const struct list_watch *lw)
{
    return lw->problem.text[0] == '\0';
}

/* --- objects -------------------------------------------------------------- */

struct object {
    struct list_watch *lw;
    struct str key, text;
    struct error *err;
    bool ok;
};

static const struct node *read_json(struct object *o, struct arena *a)
{
    const struct document_limits limits = {
        .bytes = o->lw->options.max_object_bytes,
        .nodes = o->lw->options.max_object_bytes,
        .depth = 64,
    };

    return document_read_json(
        a, (struct document_source){.name = "reply", .text = o->text}, &limits,
        o->err);
}

/* A pod that cannot be kept is no reason to stop: the others can. */
static void put_pod(struct list_watch *lw, struct arena *a,
                    const struct node *object)
{
    struct kube_pod pod;
    struct error err;

    if (!kube_pod_read(a, object, &pod, &err) ||
        !pod_table_put(lw->table, &pod, lw->options.source, lw->mark, &err))
        lw->bad_pod = err;
}

static bool read_version(struct list_watch *lw, const struct node *object,
                         struct error *err)
{
    const struct node *meta = NULL;
    struct str version = STR("");

    if (!node_map(object, "metadata", &meta, err))
        return false;
    if (meta && !node_text(meta, "resourceVersion", &version, err))
        return false;
    if (version.n >= sizeof(lw->version))
        return error_set(err, "a resourceVersion of %zu bytes", version.n);
    if (version.n)
        snprintf(lw->version, sizeof(lw->version), "%" STR_FMT,
                 STR_ARG(version));
    return true;
}

/* --- a list --------------------------------------------------------------- */

/* "metadata" of a list: the first page has the version that counts. */
static bool read_list_metadata(struct list_watch *lw, const struct node *meta,
                               struct error *err)
{
    struct str version = STR(""), page = STR("");

    if (!node_is_map(meta, err) ||
        !node_text(meta, "resourceVersion", &version, err) ||
        !node_text(meta, "continue", &page, err))
        return false;
    if (version.n == 0 || version.n >= sizeof(lw->version))
        return error_set(err, "a resourceVersion of %zu bytes", version.n);
    lw->has_metadata = true;
    if (lw->page.len == 0)
        snprintf(lw->version, sizeof(lw->version), "%" STR_FMT,
                 STR_ARG(version));
    buf_clear(&lw->page);
    buf_add(&lw->page, page);
    return buf_ok(&lw->page) ||
           error_set(err, "the continue token is too long");
}

static void take_list_part(void *arg)
{
    struct object *o = arg;
    struct arena *a = arena_new();
    const struct node *root = read_json(o, a);

    if (root && root->kind != NODE_NULL && str_eq(o->key, STR("items")))
        put_pod(o->lw, a, root);
    o->ok = root && (!str_eq(o->key, STR("metadata")) ||
                     read_list_metadata(o->lw, root, o->err));
    arena_free(a);
}

/* --- a watch -------------------------------------------------------------- */

static bool read_error_event(struct list_watch *lw, const struct node *status,
                             struct error *err)
{
    struct str message = STR("no message");
    int64_t code = 0;

    if (!node_int(status, "code", 0, 999, &code, err) ||
        !node_text(status, "message", &message, err))
        return false;
    lw->is_expired = true; /* whatever it is, a list will tell */
    return error_set(err, "%lld: %" STR_FMT, (long long)code, STR_ARG(message));
}

static void remove_pod(struct list_watch *lw, struct arena *a,
                       const struct node *object)
{
    struct kube_pod pod;

    if (kube_pod_read(a, object, &pod, &lw->bad_pod))
        pod_table_remove(lw->table, pod.namespace_name, pod.name);
}

static bool take_event(struct list_watch *lw, struct arena *a,
                       const struct node *event, struct error *err)
{
    const struct node *object = NULL;
    struct str type = STR("");

    if (!node_text(event, "type", &type, err) ||
        !node_map(event, "object", &object, err))
        return false;
    if (!object)
        return error_set(err, "an event without object");
    if (str_eq(type, STR("ERROR")))
        return read_error_event(lw, object, err);
    if (str_eq(type, STR("ADDED")) || str_eq(type, STR("MODIFIED")))
        put_pod(lw, a, object);
    else if (str_eq(type, STR("DELETED")))
        remove_pod(lw, a, object);
    else if (!str_eq(type, STR("BOOKMARK")))
        return error_set(err, "an event of the unknown type \"%" STR_FMT "\"",
                         STR_ARG(type));
    lw->has_events = true;
    lw->failures = 0;
    lw->events++;
    return read_version(lw, object, err);
}

static void take_watch_event(void *arg)
{
    struct object *o = arg;
    struct arena *a = arena_new();
    const struct node *root = read_json(o, a);

    o->ok =
        root && node_is_map(root, o->err) && take_event(o->lw, a, root, o->err);
    arena_free(a);
}

static bool take_value(void *arg, struct str key, struct str value,
                       struct error *err)
{
    struct list_watch *lw = arg;
    struct object o = {.lw = lw, .key = key, .text = value, .err = err};
    size_t budget = (size_t)(1 << 20) + value.n * MEMORY_PER_BYTE;
    bool is_list = lw->phase == LISTING;

    if (is_list && !str_eq(key, STR("items")) && !str_eq(key, STR("metadata")))
        return true;
    return memory_scope_run(budget, is_list ? take_list_part : take_watch_event,
                            &o, err) &&
           o.ok;
}

/* --- requests ------------------------------------------------------------- */

static void add_parameter(struct buf *url, const char *name, struct str value)
{
    if (value.n == 0)
        return;
    buf_addf(url, "&%s=", name);
    percent_encode(url, value, "");
}

/* A pseudo-random number in [0, n). */
static uint64_t draw(struct list_watch *lw, uint64_t n)
{
    lw->random = hash_mix(lw->random + 0x632be59bd9b4e019u);
    return n ? lw->random % n : 0;
}

static void add_query(struct list_watch *lw, struct buf *url)
{
    const struct list_watch_options *o = &lw->options;

    if (lw->phase == LISTING) {
        buf_addf(url, "?limit=%d", o->page);
        add_parameter(url, "continue", buf_str(&lw->page));
    } else {
        /* Not all of a fleet's watches shall end at the same time. */
        uint64_t more = draw(lw, (uint64_t)o->watch_seconds);

        buf_addf(url,
                 "?watch=true&allowWatchBookmarks=true&timeoutSeconds=%llu",
                 (unsigned long long)o->watch_seconds + more);
        add_parameter(url, "resourceVersion", str_from(lw->version));
    }
    add_parameter(url, "labelSelector", o->label_selector);
    add_parameter(url, "fieldSelector", o->field_selector);
}

void list_watch_begin(struct list_watch *lw, int64_t now_ns, struct buf *url)
{
    struct str where = lw->options.namespace_name;

    lw->is_busy = true;
    lw->began_ns = now_ns;
    lw->status = 0;
    lw->retry_after_ns = 0;
    lw->has_events = lw->is_expired = lw->has_metadata = false;
    lw->failure.text[0] = '\0';
    buf_clear(&lw->complaint);
    json_stream_release(&lw->stream);
    json_stream_init(&lw->stream, lw->phase == LISTING,
                     lw->options.max_object_bytes, take_value, lw);
    if (lw->phase == LISTING && lw->page.len == 0) {
        lw->mark++;
        lw->bad_pod.text[0] = '\0';
    }
    buf_add(url, STR("/api/v1"));
    if (where.n) {
        buf_add(url, STR("/namespaces/"));
        percent_encode(url, where, "");
    }
    buf_add(url, STR("/pods"));
    add_query(lw, url);
}

void list_watch_answer(struct list_watch *lw, int status,
                       int64_t retry_after_ns)
{
    lw->status = status;
    lw->retry_after_ns = retry_after_ns;
    if (status == 200 && lw->phase == WATCHING)
        lw->problem.text[0] = '\0';
}

bool list_watch_body(struct list_watch *lw, struct str bytes)
{
    if (lw->status != 200) {
        buf_add(&lw->complaint, bytes);
        return buf_ok(&lw->complaint);
    }
    return json_stream_feed(&lw->stream, bytes, &lw->failure);
}

/* --- the end of a request ------------------------------------------------- */

static const char *phase_word(const struct list_watch *lw)
{
    return lw->phase == LISTING ? "list" : "watch";
}

/* The message of a Status, or the beginning of a reply that is none. */
static void complaint_words(struct list_watch *lw, struct buf *out)
{
    struct arena *a = arena_new();
    struct str text = str_trim(buf_str(&lw->complaint)), message = STR("");
    const struct document_limits limits = {MAX_COMPLAINT_BYTES, 1000, 16};
    struct error ignored;
    const struct node *root = document_read_json(
        a, (struct document_source){.name = "status", .text = text}, &limits,
        &ignored);

    if (!root || root->kind != NODE_MAP ||
        !node_text(root, "message", &message, &ignored) || message.n == 0)
        message = str_first(text, text.n < 200 ? text.n : 200);
    buf_add(out, message);
    arena_free(a);
}

static const char *advice(int status)
{
    switch (status) {
    case 401:
        return " (the token is not valid for this cluster, or has expired)";
    case 403:
        return " (the service account needs list and watch on pods)";
    case 404:
        return " (is this a Kubernetes API server?)";
    default:
        return "";
    }
}

static void explain(struct list_watch *lw, const char *words)
{
    struct str where = lw->options.namespace_name;
    struct buf b = BUF_INIT(sizeof(lw->problem.text) - 1);

    buf_addf(&b, "%s pods", phase_word(lw));
    if (where.n)
        buf_addf(&b, " in namespace %" STR_FMT, STR_ARG(where));
    buf_add(&b, STR(": "));
    if (lw->failure.text[0]) {
        buf_add(&b, str_from(lw->failure.text));
    } else if (lw->status && lw->status != 200) {
        buf_addf(&b, "%d: ", lw->status);
        complaint_words(lw, &b);
        buf_add(&b, str_from(advice(lw->status)));
    } else {
        buf_add(&b, str_from(words));
    }
    error_set(&lw->problem, "%" STR_FMT, STR_ARG(buf_str(&b)));
    buf_release(&b);
}

/* The next request after a pause that doubles with every failure in a row. */
static void pause_for(struct list_watch *lw, int64_t now_ns)
{
    int64_t pause = lw->options.min_pause_ns;

    for (unsigned i = 0; i < lw->failures; i++)
        if (pause < lw->options.max_pause_ns)
            pause *= 2;
    if (pause > lw->options.max_pause_ns)
        pause = lw->options.max_pause_ns;
    /* Between half and all of it. */
    pause = pause / 2 + (int64_t)draw(lw, (uint64_t)pause / 2 + 1);
    if (lw->retry_after_ns > pause)
        pause = lw->retry_after_ns < MAX_RETRY_AFTER ? lw->retry_after_ns
                                                     : MAX_RETRY_AFTER;
    lw->failures++;
    lw->due_ns = now_ns + pause;
}

static void start_list(struct list_watch *lw)
{
    lw->phase = LISTING;
    buf_clear(&lw->page);
}

static void list_ended(struct list_watch *lw, int64_t now_ns)
{
    lw->due_ns = now_ns;
    if (lw->page.len)
        return; /* the next page */
    lw->lists++;
    lw->listed_ns = clock_realtime_ns();
    lw->problem.text[0] = '\0';
    pod_table_sweep(lw->table, lw->options.source, lw->mark);
    lw->phase = WATCHING;
}

/* The watch ended as it should, after timeoutSeconds or before. */
static void watch_ended(struct list_watch *lw, int64_t now_ns)
{
    lw->watches++;
    lw->problem.text[0] = '\0';
    lw->due_ns = now_ns;
    if (lw->has_events)
        return;
    if (now_ns - lw->began_ns >= lw->options.watch_seconds * SECOND)
        start_list(lw);
    else
        pause_for(lw, now_ns); /* a proxy that ends what it does not like */
}

/* Returns true if the same resourceVersion or page can be tried again. */
static bool can_resume(const struct list_watch *lw)
{
    switch (lw->status) {
    case 0:   /* no connection */
    case 200: /* cut off */
    case 401:
    case 403:
    case 429:
    case 502:
    case 503:
    case 504:
        return !lw->is_expired && !lw->failure.text[0];
    default:
        return false;
    }
}

void list_watch_end(struct list_watch *lw, bool is_whole, const char *words,
                    int64_t now_ns)
{
    bool ok = is_whole && lw->status == 200 && !lw->failure.text[0];

    lw->is_busy = false;
    if (ok && !json_stream_is_complete(&lw->stream))
        ok = error_set(&lw->failure, "the reply ends in the middle");
    if (ok && lw->phase == LISTING &&
        (!lw->has_metadata || !lw->stream.has_items))
        ok = error_set(&lw->failure, "the reply is not a list of pods");
    if (ok) {
        if (lw->phase == LISTING)
            list_ended(lw, now_ns);
        else
            watch_ended(lw, now_ns);
        return;
    }
    explain(lw, words);
    if (!can_resume(lw) || lw->phase == LISTING)
        start_list(lw);
    pause_for(lw, now_ns);
}
