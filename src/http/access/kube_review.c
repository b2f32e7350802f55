/*
 * Two POSTs for each new question, TokenReview and SubjectAccessReview, and a
 * memory of the answers.  A reply counts only if it is of the kind that was
 * asked for; whatever is missing or odd in it is a no.
 */
#include "http/access/kube_review.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_view.h"
#include "http/access/review_cache.h"
#include "http/client/http_client.h"

#define PATIENCE           (5 * SECOND)
#define KEEP_ANSWER        (60 * SECOND)
#define KEEP_FAILURE       (5 * SECOND)
#define MAX_REPLY_BYTES    ((size_t)256 << 10)
#define MAX_TOKEN_BYTES    ((size_t)16 << 10)
#define MAX_QUESTION_BYTES ((size_t)32 << 10)

#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

struct kube_review {
    char host[256], port[16];
    char token_file[512], ca_file[512];
    struct review_cache answers;
};

struct kube_review *kube_review_new(struct error *err)
{
    const char *host = secure_getenv("KUBERNETES_SERVICE_HOST");
    const char *port = secure_getenv("KUBERNETES_SERVICE_PORT");
    const char *dir = secure_getenv("PPROF_KUBERNETES_DIR");
    struct kube_review *r;

    if (!host || !*host || !port || !*port) {
        error_set(err, "not running in a Kubernetes cluster: "
                       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                       "are not set");
        return NULL;
    }
    r = calloc(1, sizeof(*r));
    if (!r) {
        error_set(err, "out of memory");
        return NULL;
    }
    if (!dir || !*dir)
        dir = ACCOUNT_DIR;
    snprintf(r->host, sizeof(r->host), "%s", host);
    snprintf(r->port, sizeof(r->port), "%s", port);
    snprintf(r->token_file, sizeof(r->token_file), "%s/token", dir);
    snprintf(r->ca_file, sizeof(r->ca_file), "%s/ca.crt", dir);
    review_cache_init(&r->answers);
    return r;
}

void kube_review_free(struct kube_review *r)
{
    if (!r)
        return;
    review_cache_release(&r->answers);
    free(r);
}

/* --- what replies say --------------------------------------------------- */

static bool is_text(struct json_view object, struct str name, struct str want)
{
    struct json_view v;
    char room[128];
    struct buf b = {.data = room, .cap = sizeof(room), .max = sizeof(room) - 1};

    return json_view_member(object, name, &v) && json_view_string(v, &b) &&
           buf_ok(&b) && str_eq(buf_str(&b), want);
}

/* The "status" of a reply that is what was asked for. */
static bool status_of(struct str reply, struct str version, struct str kind,
                      struct json_view *status)
{
    struct json_view all;

    return json_view(reply, &all) && is_text(all, STR("kind"), kind) &&
           is_text(all, STR("apiVersion"), version) &&
           json_view_member(all, STR("status"), status) &&
           json_view_is(*status, '{');
}

/* A member that may be left out; but if it is there, it is of its kind. */
static bool copy_member(struct json_view from, const char *from_name,
                        const char *to_name, char first, struct buf *to)
{
    struct json_view v;

    if (!json_view_member(from, str_from(from_name), &v) ||
        str_eq(v.text, STR("null")))
        return true;
    if (!json_view_is(v, first))
        return false;
    buf_addf(to, "%s\"%s\":", to->len ? "," : "", to_name);
    buf_add(to, v.text);
    return true;
}

bool review_read_token(struct str reply, bool *authenticated, char *who,
                       size_t size, struct buf *user)
{
    struct json_view status, v;
    struct buf name = BUF_INIT(1024);
    bool ok;

    *authenticated = false;
    if (!status_of(reply, STR("authentication.k8s.io/v1"), STR("TokenReview"),
                   &status))
        return false;
    /* It is left out when it is false. */
    if (!json_view_member(status, STR("authenticated"), &v))
        return true;
    if (!json_view_bool(v, authenticated))
        return false;
    if (!*authenticated)
        return true;
    *authenticated = false;
    if (json_view_member(status, STR("error"), &v) &&
        !str_eq(v.text, STR("\"\"")))
        return false;
    if (!json_view_member(status, STR("user"), &status) ||
        !json_view_member(status, STR("username"), &v))
        return false;
    ok = json_view_string(v, &name) && buf_ok(&name) && name.len > 0 &&
         copy_member(status, "username", "user", '"', user) &&
         copy_member(status, "uid", "uid", '"', user) &&
         copy_member(status, "groups", "groups", '[', user) &&
         copy_member(status, "extra", "extra", '{', user) && buf_ok(user);
    snprintf(who, size, "%" STR_FMT, STR_ARG(buf_str(&name)));
    buf_release(&name);
    *authenticated = ok;
    return ok;
}

bool review_read_access(struct str reply, bool *allowed)
{
    struct json_view status, v;
    bool denied;

    *allowed = false;
    if (!status_of(reply, STR("authorization.k8s.io/v1"),
                   STR("SubjectAccessReview"), &status) ||
        !json_view_member(status, STR("allowed"), &v) ||
        !json_view_bool(v, allowed))
        return false;
    if (json_view_member(status, STR("denied"), &v) &&
        (!json_view_bool(v, &denied) || denied))
        *allowed = false;
    return true;
}

/* --- asking ------------------------------------------------------------- */

static bool post(const struct kube_review *r, const char *path, struct str body,
                 int64_t deadline_ns, struct buf *reply, struct error *err)
{
    struct buf token = BUF_INIT(MAX_TOKEN_BYTES);
    struct tls_client_files tls = {.ca = r->ca_file};
    struct http_answer answer;
    bool ok = file_read(r->token_file, &token, err);

    ok = ok && http_call(
                   &(struct http_call){
                       .method = "POST",
                       .host = r->host,
                       .port = r->port,
                       .tls = &tls,
                       .path = path,
                       .content_type = "application/json",
                       .token = str_trim(buf_str(&token)),
                       .body = body,
                       .deadline_ns = deadline_ns,
                   },
                   &answer, reply, err);
    if (token.data)
        explicit_bzero(token.data, token.len);
    buf_release(&token);
    if (!ok)
        return error_wrap(err, "POST \"https://%s:%s%s\"", r->host, r->port,
                          path);
    if (answer.status != 200 && answer.status != 201)
        return error_set(
            err, "%s: the cluster answers %d%s", path, answer.status,
            answer.status == 403 ? " (the service account needs the "
                                   "role system:auth-delegator)"
                                 : "");
    return ok;
}

static enum review_verdict ask_token(const struct kube_review *r,
                                     struct str token, int64_t deadline_ns,
                                     struct review_answer *v, struct buf *user,
                                     struct error *err)
{
    struct buf body = BUF_INIT((size_t)64 << 10);
    struct buf reply = BUF_INIT(MAX_REPLY_BYTES);
    enum review_verdict verdict = REVIEW_FAILED;
    bool known;

    buf_add(&body, STR("{\"apiVersion\":\"authentication.k8s.io/v1\","
                       "\"kind\":\"TokenReview\",\"spec\":{\"token\":"));
    buf_add_json(&body, token);
    buf_add(&body, STR("}}"));
    if (!buf_ok(&body))
        error_set(err, "the token is too long");
    else if (!post(r, "/apis/authentication.k8s.io/v1/tokenreviews",
                   buf_str(&body), deadline_ns, &reply, err))
        ;
    else if (!review_read_token(buf_str(&reply), &known, v->who, sizeof(v->who),
                                user))
        error_set(err, "the cluster's reply to TokenReview is malformed");
    else
        verdict = known ? REVIEW_ALLOWED : REVIEW_UNKNOWN;
    if (body.data)
        explicit_bzero(body.data, body.len);
    buf_release(&body);
    buf_release(&reply);
    return verdict;
}

static void write_access(struct buf *body, struct str method, struct str path,
                         const struct buf *user)
{
    buf_add(body, STR("{\"apiVersion\":\"authorization.k8s.io/v1\","
                      "\"kind\":\"SubjectAccessReview\",\"spec\":{"
                      "\"nonResourceAttributes\":{\"path\":"));
    buf_add_json(body, path);
    buf_add(body, STR(",\"verb\":\""));
    for (size_t i = 0; i < method.n; i++)
        buf_add_char(body, (char)tolower((unsigned char)method.s[i]));
    buf_add(body, STR("\"},"));
    buf_add(body, buf_str(user));
    buf_add(body, STR("}}"));
}

static enum review_verdict ask_access(const struct kube_review *r,
                                      struct str method, struct str path,
                                      const struct buf *user,
                                      int64_t deadline_ns, struct error *err)
{
    struct buf body = BUF_INIT(MAX_REPLY_BYTES + ((size_t)16 << 10));
    struct buf reply = BUF_INIT(MAX_REPLY_BYTES);
    enum review_verdict verdict = REVIEW_FAILED;
    bool allowed;

    write_access(&body, method, path, user);
    if (!buf_ok(&body))
        error_set(err, "the user has too many groups");
    else if (!post(r, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                   buf_str(&body), deadline_ns, &reply, err))
        ;
    else if (!review_read_access(buf_str(&reply), &allowed))
        error_set(err,
                  "the cluster's reply to SubjectAccessReview is malformed");
    else
        verdict = allowed ? REVIEW_ALLOWED : REVIEW_FORBIDDEN;
    buf_release(&body);
    buf_release(&reply);
    return verdict;
}

static void ask_cluster(const struct kube_review *r, struct str token,
                        struct str method, struct str path,
                        struct review_answer *v, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + PATIENCE;
    struct buf user = BUF_INIT(MAX_REPLY_BYTES);

    v->answer = (int)ask_token(r, token, deadline_ns, v, &user, err);
    if (v->answer == REVIEW_ALLOWED)
        v->answer = (int)ask_access(r, method, path, &user, deadline_ns, err);
    buf_release(&user);
}

/* What an answer is remembered by. */
static bool write_question(struct buf *out, struct str token, struct str method,
                           struct str path)
{
    buf_add(out, method);
    buf_add_char(out, ' ');
    buf_add(out, path);
    buf_add_char(out, '\0');
    buf_add(out, token);
    return buf_ok(out);
}

static void release_secret(struct buf *b)
{
    if (b->data)
        explicit_bzero(b->data, b->len);
    buf_release(b);
}

bool kube_review_remembers(struct kube_review *r, struct str token,
                           struct str method, struct str path, char *who,
                           size_t size, enum review_verdict *out)
{
    struct buf question = BUF_INIT(MAX_QUESTION_BYTES);
    struct review_answer v = {.answer = REVIEW_FAILED};
    bool known = write_question(&question, token, method, path) &&
                 review_cache_get(&r->answers, buf_str(&question),
                                  clock_monotonic_ns(), &v);

    release_secret(&question);
    if (!known)
        return false;
    snprintf(who, size, "%s", v.who);
    *out = (enum review_verdict)v.answer;
    return true;
}

enum review_verdict kube_review_ask(struct kube_review *r, struct str token,
                                    struct str method, struct str path,
                                    char *who, size_t size, struct error *err)
{
    struct buf question = BUF_INIT(MAX_QUESTION_BYTES);
    struct review_answer v = {.answer = REVIEW_FAILED};
    int64_t keep;

    if (!write_question(&question, token, method, path)) {
        error_set(err, "the token is too long");
    } else if (review_cache_get(&r->answers, buf_str(&question),
                                clock_monotonic_ns(), &v)) {
        error_set(
            err, "the cluster has just failed to answer; not asking again yet");
    } else {
        ask_cluster(r, token, method, path, &v, err);
        keep = v.answer == REVIEW_FAILED ? KEEP_FAILURE : KEEP_ANSWER;
        review_cache_put(&r->answers, buf_str(&question),
                         clock_monotonic_ns() + keep, &v);
    }
    release_secret(&question);
    snprintf(who, size, "%s", v.who);
    return (enum review_verdict)v.answer;
}
