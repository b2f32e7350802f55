/*
 * A linked list: there are few of them.  An entry belongs to the requesting
 * thread, which alone adds requests and removes entries; other threads add
 * entries at the front and read copies under the lock.
 */
#include "kube/secrets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/json_view.h"
#include "base/memory_scope.h"
#include "base/percent.h"

#define MAX_REPLY_BYTES ((size_t)4 << 20)
#define FAILED_NS       (5 * SECOND)
#define REQUEST_SECONDS 20

enum part { CERT, KEY, CA, PARTS };

static const char *const part_names[PARTS] = {"tls.crt", "tls.key", "ca.crt"};

struct secret {
    struct secret *next;
    struct secrets *owner;
    struct kube_request request;
    int status;
    struct buf reply;
    int64_t due_ns;
    bool has_changed;

    /* Under the lock. */
    int64_t asked_ns;
    struct buf parts[PARTS];
    bool is_there;
    struct error failure;
    char name[]; /* NAMESPACE/NAME */
};

static void wipe(struct buf *b)
{
    if (b->data)
        explicit_bzero(b->data, b->cap);
    buf_release(b);
}

void secrets_init(struct secrets *s, struct kube_client *client,
                  int64_t again_ns)
{
    *s = (struct secrets){.client = client, .again_ns = again_ns};
    pthread_mutex_init(&s->lock, NULL);
}

static void secret_free(struct secret *x)
{
    kube_request_cancel(x->owner->client, &x->request);
    wipe(&x->reply);
    for (int i = 0; i < PARTS; i++)
        wipe(&x->parts[i]);
    free(x);
}

void secrets_release(struct secrets *s)
{
    while (s->list) {
        struct secret *x = s->list;

        s->list = x->next;
        secret_free(x);
    }
    pthread_mutex_destroy(&s->lock);
}

/* --- what replies say ----------------------------------------------------- */

/* data[name], decoded; absent is fine. */
static bool read_part(struct json_view data, const char *name, struct buf *out,
                      struct error *err)
{
    struct json_view v;
    struct buf text = BUF_INIT(MAX_REPLY_BYTES);
    ptrdiff_t n;
    bool ok = true;

    if (!json_view_member(data, str_from(name), &v))
        return true;
    if (!json_view_string(v, &text) || !buf_ok(&text) ||
        !buf_reserve(out, text.len + 1))
        ok = error_set(err, "%s is not a text", name);
    if (ok) {
        n = base64_decode(buf_str(&text), out->data);
        if (n < 0)
            ok = error_set(err, "%s is not base64 text", name);
        else
            out->len = (size_t)n;
    }
    wipe(&text);
    return ok;
}

static bool read_parts(struct str reply, struct buf *parts, struct error *err)
{
    struct json_view root, data;

    if (!json_view(reply, &root) ||
        !json_view_member(root, STR("data"), &data) || !json_view_is(data, '{'))
        return error_set(err, "it has no data");
    for (int i = 0; i < PARTS; i++)
        if (!read_part(data, part_names[i], &parts[i], err))
            return false;
    if ((parts[CERT].len == 0) != (parts[KEY].len == 0))
        return error_set(err, "it has only one of tls.crt and tls.key");
    if (parts[CERT].len == 0 && parts[CA].len == 0)
        return error_set(err, "it has neither tls.crt nor ca.crt");
    return true;
}

/* --- requests ------------------------------------------------------------- */

static void take_answer(void *arg, int status, int64_t retry_after_ns)
{
    struct secret *x = arg;

    (void)retry_after_ns;
    x->status = status;
}

static bool take_body(void *arg, struct str bytes)
{
    struct secret *x = arg;

    buf_add(&x->reply, bytes);
    return buf_ok(&x->reply);
}

static bool judge(struct secret *x, bool is_whole, const char *words,
                  struct buf *parts, struct error *err)
{
    if (!is_whole)
        return error_set(err, "%s", words);
    if (x->status == 404)
        return error_set_code(err, ENOENT, "there is no such Secret");
    if (x->status == 403)
        return error_set(err, "403: the service account may not get it");
    if (x->status != 200)
        return error_set(err, "the API server answers %d", x->status);
    return read_parts(buf_str(&x->reply), parts, err);
}

static void keep_parts(struct secret *x, struct buf *parts)
{
    for (int i = 0; i < PARTS; i++) {
        if (!x->is_there || !str_eq(buf_str(&x->parts[i]), buf_str(&parts[i])))
            x->has_changed = true;
        wipe(&x->parts[i]);
        x->parts[i] = parts[i];
    }
    x->is_there = true;
    x->failure.text[0] = '\0';
}

/* What was read before stays good unless the Secret is gone. */
static void keep_failure(struct secret *x, struct buf *parts,
                         const struct error *err)
{
    struct error failure = *err;

    for (int i = 0; i < PARTS; i++)
        wipe(&parts[i]);
    error_wrap(&failure, "Secret %s", x->name);
    if (strcmp(failure.text, x->failure.text) != 0)
        x->has_changed = true;
    x->failure = failure;
    if (err->code == ENOENT)
        x->is_there = false;
}

static void take_end(void *arg, bool is_whole, const char *words,
                     int64_t now_ns)
{
    struct secret *x = arg;
    struct buf parts[PARTS];
    struct error err;
    bool ok;

    for (int i = 0; i < PARTS; i++)
        parts[i] = BUF_INIT(MAX_REPLY_BYTES);
    ok = judge(x, is_whole, words, parts, &err);
    wipe(&x->reply);
    x->due_ns =
        now_ns +
        (ok || x->owner->again_ns < FAILED_NS ? x->owner->again_ns : FAILED_NS);
    pthread_mutex_lock(&x->owner->lock);
    if (ok)
        keep_parts(x, parts);
    else
        keep_failure(x, parts, &err);
    pthread_mutex_unlock(&x->owner->lock);
}

static void send_request(struct secret *x, int64_t now_ns)
{
    struct str name = str_from(x->name);
    ptrdiff_t slash = str_find_char(name, '/');
    struct buf path = BUF_INIT(2048);

    buf_add(&path, STR("/api/v1/namespaces/"));
    percent_encode(&path, str_first(name, (size_t)slash), "");
    buf_add(&path, STR("/secrets/"));
    percent_encode(&path, str_skip(name, (size_t)slash + 1), "");
    x->status = 0;
    x->due_ns = INT64_MAX; /* take_end() knows when */
    kube_request_send(x->owner->client, &x->request, buf_cstr(&path),
                      REQUEST_SECONDS, now_ns);
    buf_release(&path);
}

/* Removes the first entry from the list that has not been used for a long
 * time. */
static struct secret *take_unused(struct secrets *s, int64_t now_ns)
{
    struct secret *found = NULL;

    pthread_mutex_lock(&s->lock);
    for (struct secret **at = &s->list; *at && !found; at = &(*at)->next)
        if (now_ns - (*at)->asked_ns > SECRETS_KEPT_NS) {
            found = *at;
            *at = found->next;
            s->n--;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    return found;
}

int64_t secrets_run(struct secrets *s, int64_t now_ns, bool *changed)
{
    struct secret *unused, *first;
    int64_t next_ns = INT64_MAX;

    while ((unused = take_unused(s, now_ns)) != NULL)
        secret_free(unused);
    pthread_mutex_lock(&s->lock);
    first = s->list; /* others add in front of it only */
    pthread_mutex_unlock(&s->lock);
    for (struct secret *x = first; x; x = x->next) {
        if (!x->request.curl && now_ns >= x->due_ns)
            send_request(x, now_ns);
        if (x->due_ns < next_ns)
            next_ns = x->due_ns;
        *changed = *changed || x->has_changed;
        x->has_changed = false;
    }
    return next_ns;
}

/* --- for other threads ---------------------------------------------------- */

static struct secret *find(const struct secrets *s, struct str name)
{
    struct secret *x = s->list;

    while (x && !str_eq(str_from(x->name), name))
        x = x->next;
    return x;
}

static struct secret *add(struct secrets *s, struct str name)
{
    struct secret *x =
        s->n < SECRETS_MAX ? calloc(1, sizeof(*x) + name.n + 1) : NULL;

    if (!x)
        return NULL;
    memcpy(x->name, name.s, name.n);
    x->owner = s;
    x->reply = BUF_INIT(MAX_REPLY_BYTES);
    x->request.owner =
        (struct kube_request_owner){take_answer, take_body, take_end, x};
    error_set_code(&x->failure, EAGAIN, "Secret %s is not read yet", x->name);
    x->next = s->list;
    s->list = x;
    s->n++;
    return x;
}

struct copying {
    struct arena *a;
    struct secret *from;
    struct kube_tls tls;
};

static void copy_parts(void *arg)
{
    struct copying *c = arg;

    c->tls = (struct kube_tls){
        .cert = arena_str(c->a, buf_str(&c->from->parts[CERT])),
        .key = arena_str(c->a, buf_str(&c->from->parts[KEY])),
        .ca = arena_str(c->a, buf_str(&c->from->parts[CA])),
    };
}

static bool get_locked(struct secrets *s, struct arena *a, struct str name,
                       bool *is_new, struct kube_tls *out, struct error *err)
{
    struct secret *x = find(s, name);
    struct copying c = {.a = a};

    if (!x) {
        x = add(s, name);
        *is_new = x != NULL;
    }
    if (!x)
        return error_set(err, "too many Secrets are in use");
    x->asked_ns = clock_monotonic_ns();
    if (!x->is_there) {
        *err = x->failure;
        return false;
    }
    c.from = x;
    if (!memory_scope_run(MEMORY_UNLIMITED, copy_parts, &c, err))
        return false;
    *out = c.tls;
    return true;
}

bool secrets_get(struct secrets *s, struct arena *a, struct str full_name,
                 struct kube_tls *out, struct error *err)
{
    ptrdiff_t slash = str_find_char(full_name, '/');
    bool is_new = false, ok;

    if (slash <= 0 || (size_t)slash + 1 == full_name.n || full_name.n > 512 ||
        memchr(full_name.s, '\0', full_name.n))
        return error_set(err,
                         "\"%" STR_FMT "\" does not name a Secret: write "
                         "NAMESPACE/NAME",
                         STR_ARG(full_name));
    pthread_mutex_lock(&s->lock);
    ok = get_locked(s, a, full_name, &is_new, out, err);
    pthread_mutex_unlock(&s->lock);
    if (is_new)
        kube_client_wake(s->client);
    return ok;
}
