/*
 * From a connection that is ready to a request that is handled, and from a
 * reply that is made to one that is sent.
 *
 * A connection is followed until it has to wait or has had its turn: at most
 * REQUESTS_PER_TURN pipelined requests are answered before it is another
 * one's turn.
 */
#include <assert.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "http/server/server_state.h"

#define REQUESTS_PER_TURN 4
#define RETRY_AFTER_S     60 /* too many requests in a minute */
#define MAX_LOG_BYTES     ((size_t)4 << 10)

/* There is no flood when the budget has sufficed for so long. */
#define CALM_NS ((int64_t)2 * 1000000000)

static void log_refusal(struct http_server *s, struct connection *c, int status,
                        struct str reason, struct str path)
{
    struct buf line = BUF_INIT(MAX_LOG_BYTES);

    if (s->say &&
        refusals_note(&s->refusals, c->peer, &c->client, status,
                      str_trim(reason), path, clock_monotonic_ns(), &line))
        s->say(s->arg, buf_cstr(&line));
    buf_release(&line);
}

static enum connection_next refuse(struct http_server *s, struct connection *c,
                                   int status)
{
    log_refusal(s, c, status, str_from(http_status_words(status)),
                c->job ? c->job->request.path : STR(""));
    connection_refuse(c, status, &s->context);
    return connection_write(c, &s->context);
}

static enum connection_next to_pool(struct http_server *s, struct connection *c,
                                    enum job_task task)
{
    c->job->task = task;
    c->state = CONNECTION_HANDLING;
    c->is_done = false;
    if (pool_add(&s->pool, c->job))
        return CONNECTION_WAIT;
    c->is_done = true;
    return refuse(s, c, 503);
}

static enum connection_next answer_early(struct http_server *s,
                                         struct connection *c)
{
    connection_finish_early(c, &s->context);
    return connection_write(c, &s->context);
}

/* The admission hook, or a limit, has refused the request. */
static enum connection_next answer_refusal(struct http_server *s,
                                           struct connection *c)
{
    struct http_exchange *x = &c->job->x;

    c->is_trusted = false;
    if (x->status >= 400)
        log_refusal(s, c, x->status, buf_str(&x->body), x->request->path);
    return answer_early(s, c);
}

static enum connection_next refuse_as_too_many(struct http_server *s,
                                               struct connection *c)
{
    struct http_exchange *x = &c->job->x;

    buf_clear(&x->headers);
    http_exchange_retry_after(x, 429, RETRY_AFTER_S, http_status_words(429));
    return answer_refusal(s, c);
}

/*
 * How often a client may ask is counted after admission: by its name, if it has
 * authenticated, else by its address.  So unauthenticated clients cannot use up
 * the limit of a client that happens to share their address.
 */
static bool is_within_rate(struct http_server *s, struct connection *c,
                           enum http_admission admission)
{
    const struct http_identity *who = &c->job->x.identity;
    int64_t now_ns = clock_monotonic_ns();
    char room[HTTP_NETWORK_MAX];

    if (admission == HTTP_ADMITTED && who->is_authenticated)
        return rate_allows(&s->known_rate, str_from(who->name), now_ns);
    return rate_allows(&s->rate, http_client_network(&c->client, room), now_ns);
}

static enum connection_next after_admission(struct http_server *s,
                                            struct connection *c,
                                            enum http_admission admission)
{
    if (admission == HTTP_UNDECIDED)
        return to_pool(s, c, JOB_ADMIT);
    if (!is_within_rate(s, c, admission))
        return refuse_as_too_many(s, c);
    if (admission == HTTP_REFUSED)
        return answer_refusal(s, c);
    c->is_trusted = c->job->x.identity.is_authenticated;
    if (c->is_trusted && peer_trust(c->peer, clock_monotonic_ns()))
        s->known_changed = true;
    return connection_begin_body(c, &s->context);
}

/* A complete head: answered here, refused, or its body is read. */
static enum connection_next admit(struct http_server *s, struct connection *c)
{
    struct http_exchange *x = &c->job->x;

    c->job->pool = &s->pool;
    if (s->at_once && s->at_once(x, s->arg)) {
        int64_t now_ns = clock_monotonic_ns();

        if (peer_answered(c->peer, now_ns - s->paused_ns > CALM_NS, now_ns))
            s->known_changed = true;
        return answer_early(s, c);
    }
    return after_admission(
        s, c, s->admit ? s->admit(x, false, s->arg) : HTTP_ADMITTED);
}

bool requests_admit_in_worker(struct http_exchange *x, void *arg)
{
    struct http_server *s = arg;

    return s->admit(x, true, s->arg) == HTTP_ADMITTED;
}

void requests_handle_in_worker(struct http_exchange *x, void *arg)
{
    struct http_server *s = arg;

    s->handler(x, s->arg);
}

/* A body does not fit into the memory for requests: the body that has held the
 * most of it for the longest time is refused, even if it is this one. */
static enum connection_next make_memory(struct http_server *s,
                                        struct connection *c)
{
    int64_t now = clock_monotonic_ns();
    struct connection *worst = c;
    double hold = connection_body_hold(c, now);

    for (struct connection *o = s->connections; o; o = o->next) {
        double other = connection_body_hold(o, now);

        if (other > hold) {
            worst = o;
            hold = other;
        }
    }
    if (worst == c)
        return refuse(s, c, 503);
    connection_refuse(worst, 503, &s->context);
    connection_count(worst, &s->context);
    connections_enqueue(s, worst);
    return CONNECTION_AGAIN;
}

/* The next piece of a streamed reply, or its end. */
static enum connection_next stream(struct http_server *s, struct connection *c)
{
    struct job *job = c->job;
    struct buf piece;
    bool ok;

    if (connection_has_output(c) || (!c->has_pieces && !c->is_done))
        return CONNECTION_WAIT;
    c->has_pieces = false;
    ok = pool_take_pieces(&s->pool, job, &piece);
    if (ok && c->is_done) {
        buf_add(&piece, buf_str(&job->x.body));
        ok = buf_ok(&piece) && buf_ok(&job->x.body);
        buf_release(&job->x.body);
    }
    if (!ok) {
        buf_release(&piece);
        /* Nothing was sent yet: there is still time to say so. */
        return c->is_done && c->state == CONNECTION_HANDLING ? refuse(s, c, 500)
                                                             : CONNECTION_CLOSE;
    }
    if (piece.len > 0 || c->state == CONNECTION_HANDLING)
        connection_send_piece(c, &piece, &s->context);
    else if (c->is_done)
        connection_end_stream(c, &s->context);
    else
        return CONNECTION_WAIT;
    return connection_write(c, &s->context);
}

static enum connection_next
one_step(struct http_server *s, struct connection *c, enum connection_next next)
{
    switch (next) {
    case CONNECTION_ADMIT:
        return admit(s, c);
    case CONNECTION_HANDLE:
        return to_pool(s, c, JOB_HANDLE);
    case CONNECTION_NO_ROOM:
        return make_memory(s, c);
    case CONNECTION_AGAIN:
        return connection_go_on(c, &s->context);
    case CONNECTION_SENT:
        return stream(s, c);
    case CONNECTION_WAIT:
    case CONNECTION_CLOSE:
        break;
    }
    return next;
}

static void proceed(struct http_server *s, struct connection *c,
                    enum connection_next next)
{
    int requests = 0;

    connection_count(c, &s->context);
    while (next != CONNECTION_WAIT && next != CONNECTION_CLOSE) {
        requests += next == CONNECTION_ADMIT;
        if (next == CONNECTION_AGAIN && requests >= REQUESTS_PER_TURN)
            break;
        next = one_step(s, c, next);
        connection_count(c, &s->context);
    }
    if (next == CONNECTION_CLOSE) {
        if (connection_is_in_pool(c))
            requests_abandon(s, c);
        else
            connections_drop(s, c);
        return;
    }
    c->has_more = next == CONNECTION_AGAIN;
    if (c->has_more)
        connections_enqueue(s, c);
    connections_watch(s, c, EPOLL_CTL_MOD);
}

void requests_abandon(struct http_server *s, struct connection *c)
{
    assert(connection_is_in_pool(c));
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    c->is_abandoned = true;
    pool_abandon(&s->pool, c->job);
}

/* The pool has given the job back. */
static void finish(struct http_server *s, struct connection *c)
{
    struct job *job = c->job;

    if (c->is_abandoned) {
        connections_drop(s, c);
    } else if (job->task == JOB_ADMIT) {
        proceed(s, c,
                after_admission(
                    s, c, job->is_admitted ? HTTP_ADMITTED : HTTP_REFUSED));
    } else if (job->is_streamed) {
        proceed(s, c, stream(s, c));
    } else {
        connection_finish_job(c, &s->context);
        proceed(s, c, connection_write(c, &s->context));
    }
}

/* While the pool has the job: pieces to send, or the client leaves. */
static void attend(struct http_server *s, struct connection *c, uint32_t events)
{
    if (c->is_abandoned)
        return;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        requests_abandon(s, c);
    else if (connection_has_output(c))
        proceed(s, c, connection_write(c, &s->context));
    else
        proceed(s, c, stream(s, c));
}

void requests_run(struct http_server *s, struct connection *c)
{
    uint32_t events = c->events;
    bool has_more = c->has_more;

    c->events = 0;
    c->has_more = false;
    if (connection_is_in_pool(c))
        attend(s, c, events);
    else if (c->job && c->is_done && !connection_has_output(c))
        finish(s, c);
    else if (c->state == CONNECTION_WRITING && (events & EPOLLERR))
        connections_drop(s, c);
    else if (c->state == CONNECTION_WRITING || connection_has_output(c))
        proceed(s, c, connection_write(c, &s->context));
    else if (has_more)
        proceed(s, c, CONNECTION_AGAIN);
    else
        proceed(s, c, connection_read(c, &s->context));
}

void requests_collect(struct http_server *s)
{
    struct job *done, *streams;

    pool_collect(&s->pool, &done, &streams);
    for (struct job *job = streams; job; job = job->next_stream) {
        job->connection->has_pieces = true;
        connections_enqueue(s, job->connection);
    }
    for (; done; done = done->next) {
        done->connection->is_done = true;
        connections_enqueue(s, done->connection);
    }
}
