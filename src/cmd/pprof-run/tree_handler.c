/*
 * A request becomes one question to one or to all processes, and their replies
 * become one reply: forwarded, merged, or one behind the other.  Processes come
 * and go, so they are listed anew for each request.
 */
#include "cmd/pprof-run/tree_handler.h"

#include <assert.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/percent.h"
#include "base/query.h"
#include "cmd/pprof-run/tree_ask.h"
#include "cmd/pprof-run/tree_index.h"
#include "cmd/pprof-run/tree_merge.h"

#define DEFAULT_SECONDS 30
#define PATIENCE        (60 * SECOND) /* beyond the length of the profile */
#define PREFIX          STR("/debug/pprof/")

/* A request, taken apart. */
struct asked {
    const struct tree_handler *tree;
    struct http_exchange *x;
    struct arena *arena;
    struct str name;  /* "heap" */
    struct str query; /* without pid= */
    int64_t seconds;
    bool is_text; /* debug=1 and more */
    int pid;      /* 0: all */
    struct tree_processes processes;
};

static void set_type(struct http_exchange *x, const char *type)
{
    http_exchange_header(x, "Content-Type", str_from(type));
    http_exchange_header(x, "X-Content-Type-Options", STR("nosniff"));
}

static bool read_query(struct asked *q)
{
    struct str rest = q->x->request->query, word, view;
    struct buf kept = BUF_INIT(rest.n + 64);
    struct query_word w;
    uint64_t n;
    bool ok = true;

    q->seconds = DEFAULT_SECONDS;
    while (str_split(&rest, '&', &word)) {
        view = word;
        if (!query_next(q->arena, &view, &w))
            continue;
        if (str_eq(w.name, STR("pid"))) {
            ok = ok && str_to_u64(w.value, 10, &n) && n > 0 && n <= INT32_MAX;
            q->pid = ok ? (int)n : 0;
            continue;
        }
        if (str_eq(w.name, STR("seconds")) && str_to_u64(w.value, 10, &n))
            q->seconds =
                (int64_t)(n < q->tree->max_seconds ? n : q->tree->max_seconds);
        if (str_eq(w.name, STR("debug")))
            q->is_text = w.value.n && !str_eq(w.value, STR("0"));
        buf_addf(&kept, "%s%" STR_FMT, kept.len ? "&" : "", STR_ARG(word));
    }
    q->query = arena_str(q->arena, buf_str(&kept));
    buf_release(&kept);
    return ok;
}

static const struct tree_process *find_pid(const struct asked *q, int pid)
{
    for (size_t i = 0; i < q->processes.list.n; i++)
        if (q->processes.list.v[i].pid == pid)
            return &q->processes.list.v[i];
    return NULL;
}

/* Who answers what cannot be merged. */
static const struct tree_process *main_process(const struct asked *q)
{
    const struct tree_process *p = find_pid(q, q->tree->main_pid);

    return p || q->processes.list.n == 0 ? p : &q->processes.list.v[0];
}

static void ask(const struct asked *q, const struct tree_process *processes,
                size_t n, struct tree_reply *out)
{
    struct str method = q->x->request->method;
    struct tree_question question = {
        .target = str_from(arena_printf(q->arena, "%" STR_FMT "%s%" STR_FMT,
                                        STR_ARG(q->name), q->query.n ? "?" : "",
                                        STR_ARG(q->query))),
        .is_post = str_eq(method, STR("POST")),
        .body = q->x->request->body,
        .timeout_ns = q->seconds * SECOND + PATIENCE,
        .max_reply = q->tree->max_reply};

    tree_ask(q->tree->place, processes, n, &question, q->x, out);
}

static void attach(const struct asked *q, const char *type)
{
    struct http_exchange *x = q->x;

    set_type(x, type);
    buf_addf(&x->headers,
             "Content-Disposition: attachment; filename=\"%" STR_FMT "\"\r\n",
             STR_ARG(q->name));
}

static void forward(const struct asked *q, const struct tree_process *process)
{
    struct http_exchange *x = q->x;
    struct tree_reply r;

    assert(process);
    ask(q, process, 1, &r);
    if (!r.is_answered) {
        error_wrap(&r.error, "process %d", process->pid);
        http_exchange_refuse(x, 502, r.error.text);
        return;
    }
    x->status = r.reply.status;
    if (r.reply.status != 200) {
        set_type(x, "text/plain; charset=utf-8");
        http_exchange_header(x, "X-Go-Pprof", STR("1"));
    } else if (q->is_text ||
               str_has_prefix(str_from(r.reply.content_type), STR("text/"))) {
        set_type(x, "text/plain; charset=utf-8");
    } else {
        attach(q, r.reply.content_type);
    }
    buf_add(&x->body, buf_str(&r.reply.body));
    tree_replies_release(&r, 1);
}

/* The first refusal, else the first process that did not answer. */
static void refuse_all(const struct asked *q, const struct tree_reply *replies,
                       size_t n)
{
    int status = 502;
    struct error err;

    error_set(&err, "no process has answered");
    for (size_t i = 0; i < n && status == 502; i++) {
        const struct tree_reply *r = &replies[i];

        if (r->is_answered && r->reply.status != 200) {
            status = r->reply.status;
            error_set(&err, "process %d: %" STR_FMT, r->process->pid,
                      STR_ARG(str_trim(buf_str(&r->reply.body))));
        } else if (!r->is_answered) {
            error_set(&err, "process %d: %s", r->process->pid, r->error.text);
        }
    }
    http_exchange_refuse(q->x, status, err.text);
}

/* A process that has ended meanwhile is missing, and the profile says so; one
 * that refuses makes the sum wrong. */
static bool has_refusal(const struct tree_reply *replies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (replies[i].is_answered && replies[i].reply.status != 200)
            return true;
    return false;
}

static void merge(const struct asked *q, const struct tree_reply *replies,
                  size_t n)
{
    struct process_profiles all = {0};
    struct http_exchange *x = q->x;
    struct error err;

    for (size_t i = 0; i < n; i++)
        if (replies[i].is_answered && replies[i].reply.status == 200)
            process_profiles_add(&all, buf_str(&replies[i].reply.body),
                                 replies[i].process->pid,
                                 replies[i].process->command, &err);
    if (all.n == 0 || has_refusal(replies, n))
        refuse_all(q, replies, n);
    else if (!process_profiles_write(&all, n - all.n, &x->body, &err))
        http_exchange_refuse(x, 500, err.text);
    else
        attach(q, "application/octet-stream");
    process_profiles_release(&all);
}

static void join_texts(const struct asked *q, const struct tree_reply *replies,
                       size_t n)
{
    struct buf *out = &q->x->body;

    set_type(q->x, "text/plain; charset=utf-8");
    for (size_t i = 0; i < n; i++) {
        const struct tree_process *p = replies[i].process;

        buf_addf(out, "%s=== process %d, %" STR_FMT " ===\n", i ? "\n" : "",
                 p->pid, STR_ARG(p->command));
        if (replies[i].is_answered)
            buf_add(out, buf_str(&replies[i].reply.body));
        else
            buf_addf(out, "%s\n", replies[i].error.text);
    }
}

static void answer_all(struct asked *q)
{
    size_t n = q->processes.list.n;
    struct tree_reply *replies =
        arena_new_array(q->arena, struct tree_reply, n ? n : 1);

    ask(q, q->processes.list.v, n, replies);
    if (n == 0)
        http_exchange_refuse(q->x, 503,
                             "no process serves profiles: the program has "
                             "just started, or it cannot be profiled");
    else if (q->is_text)
        join_texts(q, replies, n);
    else
        merge(q, replies, n);
    tree_replies_release(replies, n);
}

static void write_json(const struct asked *q)
{
    struct json j = json_start(&q->x->body, 2);

    set_type(q->x, "application/json");
    json_open(&j, '[');
    for (size_t i = 0; i < q->processes.list.n; i++) {
        const struct tree_process *p = &q->processes.list.v[i];

        json_open(&j, '{');
        json_key(&j, STR("pid"));
        json_i64(&j, p->pid);
        json_key(&j, STR("name"));
        json_string(&j, p->name);
        json_key(&j, STR("command"));
        json_string(&j, p->command);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    buf_add_char(&q->x->body, '\n');
}

static void write_index(struct asked *q)
{
    const struct tree_process *p = find_pid(q, q->pid);
    size_t n = p ? 1 : q->processes.list.n;
    struct tree_reply *replies =
        arena_new_array(q->arena, struct tree_reply, n ? n : 1);

    ask(q, p ? p : q->processes.list.v, n, replies);
    set_type(q->x, "text/html; charset=utf-8");
    tree_index_write(replies, n, q->pid, q->arena, &q->x->body);
    tree_replies_release(replies, n);
}

static bool is_of_one_process(struct str name)
{
    return str_eq(name, STR("cmdline")) || str_eq(name, STR("symbol")) ||
           str_eq(name, STR("trace"));
}

static void answer(struct asked *q)
{
    const struct tree_process *one = q->pid ? find_pid(q, q->pid)
                                     : is_of_one_process(q->name)
                                         ? main_process(q)
                                         : NULL;

    if (q->pid && !one)
        http_exchange_refuse(q->x, 404,
                             "no such process; /debug/pprof/processes lists "
                             "them");
    else if (str_eq(q->x->request->method, STR("HEAD")))
        set_type(q->x, q->name.n ? "application/octet-stream"
                                 : "text/html; charset=utf-8");
    else if (q->name.n == 0)
        write_index(q);
    else if (str_eq(q->name, STR("processes")))
        write_json(q);
    else if (one)
        forward(q, one);
    else
        answer_all(q);
}

static bool is_method_fine(struct http_exchange *x, struct str name)
{
    struct str method = x->request->method;

    if (str_eq(method, STR("GET")) || str_eq(method, STR("HEAD")) ||
        (str_eq(method, STR("POST")) && str_eq(name, STR("symbol"))))
        return true;
    http_exchange_header(x, "Allow", STR("GET, HEAD"));
    http_exchange_refuse(x, 405, "Method Not Allowed");
    return false;
}

/* Names are short and plain; anything else is none of a process. */
static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.s[i] <= ' ' || name.s[i] == '/' || name.s[i] == '%' ||
            name.s[i] == '#' || name.s[i] == 0x7f)
            return false;
    return name.n <= 64;
}

void tree_handle(const struct tree_handler *t, struct http_exchange *x)
{
    struct asked q = {.tree = t, .x = x};
    struct str path = x->request->path;

    if (str_eq(path, str_first(PREFIX, PREFIX.n - 1))) {
        http_exchange_header(x, "Location", PREFIX);
        http_exchange_refuse(x, 307, "/debug/pprof/");
        return;
    }
    if (!str_has_prefix(path, PREFIX) || !is_name(str_skip(path, PREFIX.n))) {
        http_exchange_refuse(x, 404, "404 page not found");
        return;
    }
    q.name = str_skip(path, PREFIX.n);
    if (!is_method_fine(x, q.name))
        return;
    q.arena = arena_new();
    assert(is_name(q.name));
    if (read_query(&q)) {
        tree_processes_list(t->place, q.arena, &q.processes);
        answer(&q);
    } else {
        http_exchange_refuse(x, 400, "invalid value for \"pid\"");
    }
    arena_free(q.arena);
}
