/*
 * The client and its hosts: which of them a request goes to, and the thread
 * that checks those that do not answer.
 */
#include "store/clickhouse/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/thread.h"
#include "store/clickhouse/attempt.h"

#define FIRST_PAUSE (SECOND / 20) /* between checks of a host that is down */
#define LAST_PAUSE  (2 * SECOND)

struct str ch_database(const struct ch_client *c)
{
    return c->address.database;
}

/* --- making a client ------------------------------------------------------ */

static char *copy_text(struct str s)
{
    return s.n ? strndup(s.s, s.n) : NULL;
}

static char *make_header(const char *name, struct str value, struct error *err)
{
    struct buf b = BUF_INIT(4096);
    char *out = NULL;

    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.s[i] < ' ') {
            error_set(err, "the password has a control character in it");
            return NULL;
        }
    buf_addf(&b, "%s: %" STR_FMT, name, STR_ARG(value));
    if (buf_ok(&b))
        out = copy_text(buf_str(&b));
    if (b.data)
        explicit_bzero(b.data, b.len);
    buf_release(&b);
    if (!out)
        error_set(err, "out of memory, or the password is too long");
    return out;
}

static void set_hosts(struct ch_client *c)
{
    const struct clickhouse_address *a = &c->address;

    for (size_t i = 0; i < a->n_hosts; i++)
        snprintf(c->hosts[i].base, sizeof(c->hosts[i].base),
                 "%s://%" STR_FMT ":%u/", a->is_tls ? "https" : "http",
                 STR_ARG(a->hosts[i].name), a->hosts[i].port);
}

static void init_checker(struct checker *k)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void stop_checker(struct checker *k)
{
    pthread_mutex_lock(&k->lock);
    atomic_store(&k->stop, true);
    pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
    if (k->has_thread)
        pthread_join(k->thread, NULL);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->wake);
}

struct ch_client *ch_client_new(const struct clickhouse_options *o,
                                struct error *err)
{
    struct ch_client *c = calloc(1, sizeof(*c));

    if (!c) {
        error_set(err, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    init_checker(&c->checker);
    c->id_seed = hash_seed(c) ^ (uint64_t)clock_realtime_ns();
    c->query_memory = o->query_memory;
    c->text = copy_text(o->url);
    c->ca_file = copy_text(o->ca_file);
    c->cert_file = copy_text(o->cert_file);
    c->key_file = copy_text(o->key_file);
    c->api = curl_load(err);
    if (c->api &&
        clickhouse_address_parse(str_from(c->text), &c->address, err) &&
        (c->user_header =
             make_header("X-ClickHouse-User", c->address.user, err)) &&
        (!o->password.n ||
         (c->key_header = make_header("X-ClickHouse-Key", o->password, err)))) {
        set_hosts(c);
        return c;
    }
    ch_client_free(c);
    return NULL;
}

void ch_client_free(struct ch_client *c)
{
    if (!c)
        return;
    stop_checker(&c->checker);
    ch_handles_free(c);
    if (c->key_header)
        explicit_bzero(c->key_header, strlen(c->key_header));
    free(c->key_header);
    free(c->user_header);
    free(c->ca_file);
    free(c->cert_file);
    free(c->key_file);
    free(c->text);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* --- choosing a host ------------------------------------------------------ */

static void mark_down(struct ch_client *c, struct host *host,
                      const struct error *err)
{
    pthread_mutex_lock(&c->checker.lock);
    snprintf(host->words, sizeof(host->words), "%.255s", err->text);
    pthread_mutex_unlock(&c->checker.lock);
    if (!atomic_exchange(&host->is_down, true) && c->failovers)
        atomic_fetch_add(c->failovers, 1);
}

void ch_count_failovers(struct ch_client *c, atomic_uint *counter)
{
    if (c->address.n_hosts > 1)
        c->failovers = counter;
}

static void check_host(struct ch_client *c, struct host *host)
{
    struct buf reply = BUF_INIT(4096);
    struct ch_request r = {
        .sql = STR("SELECT 1"), .out = &reply, .timeout_ns = CHECK_NS};
    struct error err;
    enum verdict verdict;
    enum store_status status;

    r.no_database = true;
    status = ch_attempt(c, &r, host, true, &verdict, &err);
    if (status == STORE_OK && !str_eq(buf_str(&reply), STR("1\n"))) {
        error_set(&err, "%s is not ClickHouse: it does not answer SELECT 1",
                  host->base);
        status = STORE_BUSY;
    }
    if (status == STORE_BUSY)
        mark_down(c, host, &err);
    else
        atomic_store(&host->is_down, false);
    buf_release(&reply);
}

/* True if some hosts are still down. */
static bool check_hosts(struct ch_client *c)
{
    bool some = false;

    for (size_t i = 0; i < c->address.n_hosts; i++) {
        struct host *host = &c->hosts[i];

        if (atomic_exchange(&host->is_suspect, false) ||
            atomic_load(&host->is_down))
            check_host(c, host);
        some = some || atomic_load(&host->is_down);
    }
    return some;
}

static bool is_any_suspect(struct ch_client *c)
{
    for (size_t i = 0; i < c->address.n_hosts; i++)
        if (atomic_load(&c->hosts[i].is_suspect))
            return true;
    return false;
}

static void *check_loop(void *arg)
{
    struct ch_client *c = arg;
    struct checker *k = &c->checker;
    int64_t pause_ns = FIRST_PAUSE;

    pthread_mutex_lock(&k->lock);
    while (!atomic_load(&k->stop)) {
        bool some;

        pthread_mutex_unlock(&k->lock);
        some = check_hosts(c);
        pthread_mutex_lock(&k->lock);
        if (atomic_load(&k->stop) || is_any_suspect(c))
            continue;
        if (some) {
            struct timespec until =
                clock_timespec(clock_monotonic_ns() + pause_ns);

            pthread_cond_timedwait(&k->wake, &k->lock, &until);
            pause_ns = 2 * pause_ns < LAST_PAUSE ? 2 * pause_ns : LAST_PAUSE;
        } else {
            pthread_cond_wait(&k->wake, &k->lock);
            pause_ns = FIRST_PAUSE;
        }
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

void ch_suspect(struct ch_client *c, struct host *host)
{
    struct checker *k = &c->checker;

    if (atomic_exchange(&host->is_suspect, true))
        return;
    pthread_mutex_lock(&k->lock);
    if (!k->has_thread && !atomic_load(&k->stop))
        k->has_thread =
            thread_start(&k->thread, "pprofd-check", 0, check_loop, c) == 0;
    if (!k->has_thread) { /* never leave a host alone for ever */
        atomic_store(&host->is_suspect, false);
        atomic_store(&host->is_down, false);
    }
    pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
}

bool ch_is_reachable(struct ch_client *c, struct error *why)
{
    for (size_t i = 0; i < c->address.n_hosts; i++)
        if (!atomic_load(&c->hosts[i].is_down))
            return true;
    pthread_mutex_lock(&c->checker.lock);
    error_set(why, "%s%s", c->address.n_hosts > 1 ? "no host answers; " : "",
              c->hosts[0].words);
    pthread_mutex_unlock(&c->checker.lock);
    return false;
}

/* Codes with which a Distributed table says that a shard does not answer. */
static bool is_of_a_shard(int code)
{
    return code == 32 || code == 203 || code == 209 || code == 210 ||
           code == 279;
}

/* A query whose reply was cut off is asked once more; an insert is for the
 * caller to repeat. */
static enum store_status use_host(struct ch_client *c, struct ch_request *r,
                                  struct host *host, enum verdict *verdict,
                                  struct error *err)
{
    size_t out_start = r->out ? r->out->len : 0;
    enum store_status status = STORE_BUSY;

    for (int tries = 0; tries < 2; tries++) {
        status = ch_attempt(c, r, host, false, verdict, err);
        if (status == STORE_BUSY && r->out) {
            r->out->len = out_start;
            r->out->failed = false;
        }
        if (*verdict != CUT_OFF || r->data.s)
            break;
    }
    if (*verdict == UNREACHABLE)
        mark_down(c, host, err);
    if (*verdict != ANSWERED)
        ch_suspect(c, host);
    return status;
}

enum store_status ch_run(struct ch_client *c, struct ch_request *r,
                         struct error *err)
{
    enum store_status status = STORE_BUSY;
    enum verdict verdict = ANSWERED;
    struct error answer = {.text = ""}; /* tells more than a dead host */

    if (!ch_is_reachable(c, err))
        return STORE_BUSY;
    for (size_t i = 0; i < c->address.n_hosts; i++) {
        if (atomic_load(&c->hosts[i].is_down))
            continue;
        status = use_host(c, r, &c->hosts[i], &verdict, err);
        if (status == STORE_BUSY && r->is_sync && is_of_a_shard(r->code)) {
            r->is_sync = false;
            status = use_host(c, r, &c->hosts[i], &verdict, err);
        }
        if (status != STORE_BUSY)
            return status;
        if (verdict == ANSWERED)
            answer = *err;
        if (verdict == TIMED_OUT)
            break;
    }
    if (answer.text[0])
        *err = answer;
    return status;
}

enum store_status ch_exec(struct ch_client *c, struct error *err,
                          const char *fmt, ...)
{
    struct buf sql = BUF_INIT((size_t)1 << 20);
    struct ch_request r = {0};
    enum store_status status = STORE_FAILED;
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&sql, fmt, ap);
    va_end(ap);
    r.sql = buf_str(&sql);
    if (buf_ok(&sql))
        status = ch_run(c, &r, err);
    else
        error_set(err, "out of memory");
    buf_release(&sql);
    return status;
}
