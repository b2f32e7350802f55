/*
 * Sorts the ticks by thread and time and writes them in one pass: a span of
 * "running" for each run of samples on one CPU without a gap, and an instant
 * event for each sample.  Spans come before their samples, and the times of a
 * thread's events never go back: viewers rely on it.
 */
#include "runtime/cpu/trace.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "runtime/own_code.h"
#include "runtime/state.h"
#include "runtime/write/function_names.h"

struct trace {
    struct json j;
    struct names names;
    struct buf text;
    int pid;
};

static void key_i64(struct trace *t, struct str key, int64_t v)
{
    json_key(&t->j, key);
    json_i64(&t->j, v);
}

static void key_str(struct trace *t, struct str key, struct str v)
{
    json_key(&t->j, key);
    json_string(&t->j, v);
}

static void open_event(struct trace *t, struct str name, struct str phase,
                       uint32_t tid, int64_t time_ns)
{
    json_open(&t->j, '{');
    key_str(t, STR("name"), name);
    key_str(t, STR("ph"), phase);
    key_i64(t, STR("pid"), t->pid);
    key_i64(t, STR("tid"), tid);
    json_key(&t->j, STR("ts"));
    json_thousandths(&t->j, time_ns);
}

static struct str frame_name(struct trace *t, uint64_t pc)
{
    const char *pseudo = names_pseudo(pc);
    struct name name;

    buf_clear(&t->text);
    if (pseudo)
        return str_from(pseudo);
    if (names_find(&t->names, pc, &name))
        names_pretty(&t->names, name.mangled, &t->text);
    else
        buf_addf(&t->text, "0x%llx", (unsigned long long)pc);
    return buf_str(&t->text);
}

static void write_sample(struct trace *t, const struct tick *k,
                         const struct stack_record *r)
{
    struct str leaf = STR("?");

    for (uint32_t i = 0; i < r->n; i++) {
        if (own_code_hides(r->pcs, r->n, i))
            continue;
        leaf = frame_name(t, r->pcs[i]);
        break;
    }
    open_event(t, leaf, STR("i"), k->tid, k->time_ns);
    key_str(t, STR("s"), STR("t"));
    json_key(&t->j, STR("args"));
    json_open(&t->j, '{');
    key_i64(t, STR("cpu"), k->cpu);
    key_i64(t, STR("weight"), k->weight);
    json_key(&t->j, STR("stack"));
    json_open(&t->j, '[');
    for (uint32_t i = 0; i < r->n; i++)
        if (!own_code_hides(r->pcs, r->n, i))
            json_string(&t->j, frame_name(t, r->pcs[i]));
    json_close(&t->j, ']');
    json_close(&t->j, '}');
    json_close(&t->j, '}');
}

/* From `first` to `last` the thread was seen on one CPU without a gap; `free`
 * is when its last run ended.  When this one ended. */
static int64_t write_run(struct trace *t, const struct tick *first,
                         const struct tick *last, int64_t free_ns,
                         int64_t period_ns)
{
    int64_t start = first->time_ns - first->weight * period_ns;

    if (start < free_ns)
        start = free_ns;
    open_event(t, STR("running"), STR("X"), first->tid, start);
    json_key(&t->j, STR("dur"));
    json_thousandths(&t->j, last->time_ns - start);
    json_key(&t->j, STR("args"));
    json_open(&t->j, '{');
    key_i64(t, STR("cpu"), first->cpu);
    json_close(&t->j, '}');
    json_close(&t->j, '}');
    return last->time_ns;
}

static void write_thread_name(struct trace *t, uint32_t tid)
{
    char path[64], name[32] = "[ended]";
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
    f = fopen(path, "re");
    if (f && fgets(name, sizeof(name), f))
        name[strcspn(name, "\n")] = '\0';
    if (f)
        fclose(f);
    open_event(t, STR("thread_name"), STR("M"), tid, 0);
    json_key(&t->j, STR("args"));
    json_open(&t->j, '{');
    key_str(t, STR("name"), str_from(name));
    json_close(&t->j, '}');
    json_close(&t->j, '}');
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct tick *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Where the run that begins with v[first] ends: before another thread, on
 * another CPU, or before a pause that is longer than the longest interval
 * between two samples (intervals.h). */
static uint64_t run_limit(const struct tick *v, uint64_t n, uint64_t first,
                          int64_t period_ns)
{
    uint64_t i = first + 1;

    while (i < n && v[i].tid == v[first].tid && v[i].cpu == v[first].cpu &&
           v[i].time_ns - v[i - 1].time_ns <=
               ((int64_t)v[i].weight + 1) * period_ns)
        i++;
    return i;
}

/* The times of a thread's events never go back. */
static void write_events(struct trace *t, const struct tick *v, uint64_t n,
                         const struct stack_table *table, int64_t period_ns)
{
    int64_t free_ns = 0;

    for (uint64_t first = 0, limit; first < n; first = limit) {
        if (first == 0 || v[first].tid != v[first - 1].tid) {
            write_thread_name(t, v[first].tid);
            free_ns = 0;
        }
        limit = run_limit(v, n, first, period_ns);
        free_ns = write_run(t, &v[first], &v[limit - 1], free_ns, period_ns);
        for (uint64_t i = first; i < limit; i++)
            write_sample(
                t, &v[i],
                (const struct stack_record *)(table->arena + v[i].record));
    }
}

bool trace_write(struct tick *ticks, uint64_t n,
                 const struct stack_table *table, int64_t period_ns,
                 struct buf *out, struct error *err)
{
    struct trace t = {
        .j = json_start(out, 0), .text = BUF_INIT(1u << 20), .pid = getpid()};

    assert(period_ns > 0 && (n == 0 || ticks));
    if (n)
        qsort(ticks, n, sizeof(*ticks), by_thread_and_time);
    runtime_lock();
    modules_refresh(&runtime.modules);
    names_init(&t.names, &runtime.modules);
    json_open(&t.j, '{');
    key_str(&t, STR("displayTimeUnit"), STR("ms"));
    json_key(&t.j, STR("otherData"));
    json_open(&t.j, '{');
    key_str(&t, STR("format"),
            STR("Chrome trace events, made from CPU samples; not Go's "
                "execution trace"));
    key_i64(&t, STR("sample_period_ns"), period_ns);
    json_close(&t.j, '}');
    json_key(&t.j, STR("traceEvents"));
    json_open(&t.j, '[');
    write_events(&t, ticks, n, table, period_ns);
    json_close(&t.j, ']');
    json_close(&t.j, '}');
    names_release(&t.names);
    runtime_unlock();
    buf_release(&t.text);
    buf_add_char(out, '\n');
    return buf_ok(out) || error_set(err, "the trace is too big");
}
