/*
 * The command is a request to the collector's API that no server has received:
 * parameters, defaults, limits and answers are the same as over HTTP.
 */
#include "cmd/pprofd/query_command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/percent.h"
#include "base/vec.h"
#include "cmd/pprofd/open_store.h"
#include "cmd/pprofd/query_table.h"
#include "collector/collector.h"
#include "report/config.h"

/* The queries. `params` are those that the API knows besides query, from and
 * to. */
static const struct kind {
    const char *name, *path;
    query_table *table; /* NULL: the answer is a profile */
    const char *params;
    bool is_report; /* and takes the options of a report */
} kinds[] = {
    {"services", "/api/1/services", query_table_services, ""},
    {"labels", "/api/1/labels", query_table_labels, " name "},
    {"profiles", "/api/1/profiles", query_table_profiles,
     " limit order after "},
    {"series", "/api/1/series", query_table_series,
     " values step by value_type "},
    {"function", "/api/1/function", query_table_function,
     " values step value_type name "},
    {"top", "/api/1/top", query_table_top, " values n ", .is_report = true},
    {"merge", "/api/1/merge", NULL, " values "},
    {"diff", "/api/1/diff", NULL,
     " values base_query base_from base_to normalize "},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct question {
    const struct kind *kind;
    struct buf query; /* of the URL */
    bool as_json;
    const char *out; /* NULL: stdout */
};

/* --- the command line ----------------------------------------------------- */

static const struct kind *find_kind(const char *word, struct error *err)
{
    struct buf names = BUF_INIT(1024);

    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, word) == 0)
            return &kinds[i];
    for (size_t i = 0; i < N_KINDS; i++)
        buf_addf(&names, "%s%s", i ? ", " : "", kinds[i].name);
    error_set(err, "unknown query \"%s\"; known are %s", word,
              buf_cstr(&names));
    buf_release(&names);
    return NULL;
}

static void add_param(struct question *q, struct str name, struct str value)
{
    if (q->query.len)
        buf_add_char(&q->query, '&');
    percent_encode(&q->query, name, "");
    buf_add_char(&q->query, '=');
    percent_encode(&q->query, value, "");
}

static bool is_param(const struct kind *kind, struct str name)
{
    char word[64];

    if (str_eq(name, STR("from")) || str_eq(name, STR("to")))
        return true;
    if (kind->is_report && config_find(name))
        return true;
    if (name.n + 3 > sizeof(word))
        return false;
    snprintf(word, sizeof(word), " %" STR_FMT " ", STR_ARG(name));
    return strstr(kind->params, word) != NULL;
}

/* --NAME=VALUE or --NAME VALUE; *i is the index of the word. */
static bool read_flag(struct question *q, int *i, int argc, char **argv,
                      struct error *err)
{
    struct str word = str_from(argv[*i]), name, value;
    ptrdiff_t equals;

    while (str_has_prefix(word, STR("-")))
        word = str_skip(word, 1);
    if (str_eq(word, STR("json"))) {
        q->as_json = true;
        return true;
    }
    equals = str_find_char(word, '=');
    name = equals < 0 ? word : str_first(word, (size_t)equals);
    if (equals < 0 && *i + 1 == argc)
        return error_set(err, "%s needs a value", argv[*i]);
    value =
        equals < 0 ? str_from(argv[++*i]) : str_skip(word, (size_t)equals + 1);
    if (str_eq(name, STR("o")))
        q->out = value.s;
    else if (is_param(q->kind, name))
        add_param(q, name, value);
    else
        return error_set(err,
                         "query %s has no parameter \"%" STR_FMT
                         "\"; flags of the store come before \"%s\"",
                         q->kind->name, STR_ARG(name), q->kind->name);
    return true;
}

/* KIND [SELECTOR] and flags in any order. */
static bool read_question(struct question *q, int argc, char **argv,
                          struct error *err)
{
    bool has_selector = false;

    if (argc == 0)
        return error_set(err, "no query given: see pprofd query -h");
    q->kind = find_kind(argv[0], err);
    if (!q->kind)
        return false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (!read_flag(q, &i, argc, argv, err))
                return false;
        } else if (has_selector) {
            return error_set(err, "unexpected argument \"%s\"", argv[i]);
        } else {
            add_param(q, STR("query"), str_from(argv[i]));
            has_selector = true;
        }
    }
    if (!q->kind->table && !q->out && isatty(STDOUT_FILENO))
        return error_set(err, "profiles are not written to a terminal; write "
                              "to a file with -o, or pipe it to pprof -top -");
    return true;
}

/* --- the answer ----------------------------------------------------------- */

static bool write_out(const struct question *q, struct str bytes,
                      struct error *err)
{
    if (q->out)
        return file_write(q->out, bytes, err);
    return file_write_fd(STDOUT_FILENO, "stdout", bytes, err);
}

static bool show(const struct question *q, struct arena *a,
                 struct http_exchange *x, struct error *err)
{
    struct buf table = BUF_INIT(BUF_OF_TOOL);
    struct str words;
    bool ok;

    if (x->status != 200) {
        words = query_error_words(a, buf_str(&x->body));
        return error_set(err, "%" STR_FMT,
                         STR_ARG(words.n ? words : buf_str(&x->body)));
    }
    if (!buf_ok(&x->body))
        return error_set(err, "out of memory");
    if (q->as_json || !q->kind->table)
        return write_out(q, buf_str(&x->body), err);
    ok = q->kind->table(a, buf_str(&x->body), &table, err) &&
         write_out(q, buf_str(&table), err);
    buf_release(&table);
    return ok;
}

/* So that ClickHouse does not go on with what nobody waits for. */
static volatile sig_atomic_t interrupt_signal;

static void note_interrupt(int sig)
{
    interrupt_signal = sig;
}

static bool is_interrupted(void *arg)
{
    (void)arg;
    return interrupt_signal != 0;
}

/* A second interrupt ends the program at once. */
static void catch_interrupts(void)
{
    const struct sigaction catch = {.sa_handler = note_interrupt,
                                    .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGTERM, &catch, NULL);
}

/* The first one did not: it does now that the query has been cancelled. */
static void end_if_interrupted(void)
{
    if (interrupt_signal == 0)
        return;
    signal(interrupt_signal, SIG_DFL);
    raise(interrupt_signal);
}

static bool ask(const struct question *q, const struct settings *s,
                struct store *store, struct arena *a, struct error *err)
{
    struct collector c;
    const struct http_client client = {.address = "-"};
    const struct http_request request = {.method = STR("GET"),
                                         .target = str_from(q->kind->path),
                                         .path = str_from(q->kind->path),
                                         .query = buf_str(&q->query)};
    struct http_exchange x = {.request = &request,
                              .client = &client,
                              .identity = {.scopes = HTTP_MAY_READ},
                              .status = 200,
                              .headers = BUF_INIT((size_t)64 << 10),
                              .body = BUF_INIT(BUF_OF_TOOL)};
    bool ok;

    collector_init(&c, &(struct collector_options){
                           .store = store,
                           .query = {.profiles = s->query_profiles,
                                     .bytes = s->query_bytes,
                                     .cpu_ns = s->query_cpu_ns,
                                     .cancelled = is_interrupted},
                           .query_memory_bytes = s->query_memory,
                           .version = PPROF_VERSION,
                           .has_no_clients = true,
                       });
    collector_handle(&c, &x);
    ok = show(q, a, &x, err);
    buf_release(&x.body);
    buf_release(&x.headers);
    collector_release(&c);
    return ok;
}

int query_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct question q = {.query = arena_buf(a)};
    struct store *store = NULL;
    struct settings s;
    struct error err = {.text = ""};
    int rest;
    bool ok = settings_read(&s, a, argv, argc, &rest, &err) &&
              read_question(&q, argc - rest, argv + rest, &err);

    if (ok)
        store = open_existing_store(&s, a, &err);
    catch_interrupts();
    ok = store && ask(&q, &s, store, a, &err);
    store_close(store);
    end_if_interrupted();
    if (!ok)
        fprintf(stderr, "pprofd: %s\n", err.text);
    arena_free(a);
    return ok ? 0 : 1;
}
