/*
 * libcurl says which sockets it waits for and when its next timeout is; both
 * go into an epoll and a number.  What a transfer needs is set in
 * transfer_setup.c; failures become words in transfer_failure.c.
 */
#include "collector/scrape/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/scrape/transfer_parts.h"

#define MAX_EVENTS 256

struct transfers {
    const struct curl_api *api;
    CURLM *multi;
    int epoll, event;
    int64_t timer_ns; /* when libcurl wants to be called; 0: never */
    struct epoll_event events[MAX_EVENTS];
    int n_events;
    size_t memory, memory_max;
    struct transfer *first;
};

/* --- what libcurl tells --------------------------------------------------- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
                     void *known)
{
    struct transfers *t = arg;
    struct epoll_event e = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
                                      (what & CURL_POLL_OUT ? EPOLLOUT : 0u),
                            .data.fd = fd};

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(t->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    if (!known || epoll_ctl(t->epoll, EPOLL_CTL_MOD, fd, &e) != 0)
        if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) != 0 && errno == EEXIST)
            epoll_ctl(t->epoll, EPOLL_CTL_MOD, fd, &e);
    t->api->multi_assign(t->multi, fd, t);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct transfers *t = arg;

    (void)multi;
    t->timer_ns = timeout_ms < 0
                      ? 0
                      : clock_monotonic_ns() + timeout_ms * INT64_C(1000000);
    if (t->timer_ns == 0 && timeout_ms == 0)
        t->timer_ns = 1;
    return 0;
}

/* --- bodies --------------------------------------------------------------- */

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct transfer *x = arg;
    struct transfers *t = x->owner;
    size_t before = x->body.cap;

    if (t->memory + size * n > t->memory_max) {
        x->is_starved = true;
        return 0;
    }
    buf_add_bytes(&x->body, data, size * n);
    t->memory += x->body.cap - before;
    return buf_ok(&x->body) ? size * n : 0;
}

size_t transfers_memory(const struct transfers *t)
{
    return t->memory;
}

/* --- life ----------------------------------------------------------------- */

struct transfers *transfers_new(size_t memory_bytes, struct error *err)
{
    const struct curl_api *api = curl_load(err);
    struct transfers *t = api ? calloc(1, sizeof(*t)) : NULL;
    struct epoll_event wake = {.events = EPOLLIN};

    if (!t)
        return NULL;
    t->api = api;
    t->memory_max = memory_bytes;
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->multi = api->multi_init();
    wake.data.fd = t->event;
    if (!t->multi || t->epoll < 0 || t->event < 0 ||
        epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->event, &wake) != 0) {
        error_set_os(err, "prepare", "transfers", errno);
        transfers_free(t);
        return NULL;
    }
    api->multi_setopt(t->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    api->multi_setopt(t->multi, CURLMOPT_SOCKETDATA, t);
    api->multi_setopt(t->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    api->multi_setopt(t->multi, CURLMOPT_TIMERDATA, t);
    return t;
}

static void unlink_transfer(struct transfer *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        x->owner->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
}

static void transfer_free(struct transfer *x)
{
    const struct curl_api *api = x->owner->api;

    api->multi_remove_handle(x->owner->multi, x->easy);
    api->easy_cleanup(x->easy);
    api->slist_free_all(x->headers);
    api->slist_free_all(x->connect_to);
    x->owner->memory -= x->body.cap;
    buf_release(&x->body);
    unlink_transfer(x);
    free(x);
}

void transfers_cancel(struct transfer *x)
{
    transfer_free(x);
}

void transfers_free(struct transfers *t)
{
    if (!t)
        return;
    while (t->first)
        transfer_free(t->first);
    if (t->multi)
        t->api->multi_cleanup(t->multi);
    if (t->event >= 0)
        close(t->event);
    if (t->epoll >= 0)
        close(t->epoll);
    free(t);
}

struct transfer *transfers_start(struct transfers *t,
                                 const struct transfer_request *request,
                                 transfer_done *done, void *arg,
                                 struct error *err)
{
    struct transfer *x = calloc(1, sizeof(*x));

    if (!x) {
        error_set(err, "out of memory");
        return NULL;
    }
    x->owner = t;
    x->api = t->api;
    x->done = done;
    x->arg = arg;
    x->timeout_ns = request->timeout_ns;
    x->max_bytes = request->max_bytes;
    x->body = BUF_INIT(request->max_bytes);
    x->began_ns = clock_monotonic_ns();
    x->next = t->first;
    if (t->first)
        t->first->prev = x;
    t->first = x;
    x->easy = t->api->easy_init();
    if (!x->easy || !transfer_setup(x, request, err)) {
        if (!x->easy)
            error_set(err, "out of memory");
        transfer_free(x);
        return NULL;
    }
    t->api->easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_body);
    t->api->easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
    t->api->easy_setopt(x->easy, CURLOPT_PRIVATE, x);
    if (t->api->multi_add_handle(t->multi, x->easy) != CURLM_OK) {
        error_set(err, "libcurl cannot start the transfer");
        transfer_free(x);
        return NULL;
    }
    return x;
}

/* --- turns ---------------------------------------------------------------- */

void transfers_wake(struct transfers *t)
{
    uint64_t one = 1;
    ssize_t ignored = write(t->event, &one, sizeof(one));

    (void)ignored;
}

void transfers_wait(struct transfers *t, int64_t timeout_ns)
{
    int64_t ms;

    if (t->timer_ns) {
        int64_t left = t->timer_ns - clock_monotonic_ns();

        if (left < timeout_ns)
            timeout_ns = left < 0 ? 0 : left;
    }
    ms = (timeout_ns + 999999) / 1000000;
    t->n_events = epoll_wait(t->epoll, t->events, MAX_EVENTS,
                             ms > 60000 ? 60000 : (int)ms);
}

static void finish(struct transfers *t, CURL *easy, CURLcode rc)
{
    struct transfer_result r = {.duration_ns = 0};
    struct transfer *x = NULL;
    transfer_done *done;
    void *arg;

    t->api->easy_getinfo(easy, CURLINFO_PRIVATE, &x);
    transfer_judge(x, rc, &r);
    r.duration_ns = clock_monotonic_ns() - x->began_ns;
    r.body = r.reason == SCRAPE_OK ? buf_str(&x->body) : STR("");
    done = x->done;
    arg = x->arg;
    done(arg, &r);
    transfer_free(x);
}

void transfers_work(struct transfers *t)
{
    int running, left;
    CURLMsg *m;
    uint64_t drained;

    for (int i = 0; i < t->n_events; i++) {
        uint32_t e = t->events[i].events;
        int what = (e & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (e & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (e & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

        if (t->events[i].data.fd == t->event) {
            while (read(t->event, &drained, sizeof(drained)) > 0)
                ;
            continue;
        }
        t->api->multi_socket_action(t->multi, t->events[i].data.fd, what,
                                    &running);
    }
    t->n_events = 0;
    if (t->timer_ns && clock_monotonic_ns() >= t->timer_ns) {
        t->timer_ns = 0;
        t->api->multi_socket_action(t->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    while ((m = t->api->multi_info_read(t->multi, &left)) != NULL)
        if (m->msg == CURLMSG_DONE)
            finish(t, m->easy_handle, m->data.result);
}
