/*
 * The manifest is JSON on the standard input of `kubectl create -f -`: an
 * argument would show in the list of processes, a file would be on disk.
 */
#include "cmd/kubectl-pprof/tls_secret.h"

#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_view.h"
#include "cmd/kubectl-pprof/certificate.h"

#define LABEL      "app.kubernetes.io/managed-by"
#define OURS       "kubectl-pprof"
#define SECRET_MAX ((size_t)4 << 20)

/* The room for keys is reserved at once, so that no copy stays behind when a
 * buffer grows. */
#define ROOM ((size_t)64 << 10)

static void wipe(struct buf *b)
{
    if (b->data)
        explicit_bzero(b->data, b->cap);
    buf_release(b);
}

static void write_data(struct json *j, const char *name, const struct buf *pem)
{
    struct buf text = BUF_INIT(ROOM);

    buf_reserve(&text, ROOM / 2);
    base64_encode(&text, buf_str(pem));
    json_key(j, str_from(name));
    json_string(j, buf_str(&text));
    wipe(&text);
}

static void write_manifest(struct tls_secret *t, const struct certificate *c)
{
    struct json j;

    t->manifest = BUF_INIT(SECRET_MAX);
    buf_reserve(&t->manifest, ROOM);
    j = json_start(&t->manifest, 0);
    json_open(&j, '{');
    json_key(&j, STR("apiVersion"));
    json_string(&j, STR("v1"));
    json_key(&j, STR("kind"));
    json_string(&j, STR("Secret"));
    json_key(&j, STR("type"));
    json_string(&j, STR("kubernetes.io/tls"));
    json_key(&j, STR("metadata"));
    json_open(&j, '{');
    json_key(&j, STR("name"));
    json_string(&j, str_from(t->name));
    json_key(&j, STR("namespace"));
    json_string(&j, str_from(t->namespace_name));
    json_key(&j, STR("labels"));
    json_open(&j, '{');
    json_key(&j, STR(LABEL));
    json_string(&j, STR(OURS));
    json_close(&j, '}');
    json_close(&j, '}');
    json_key(&j, STR("data"));
    json_open(&j, '{');
    write_data(&j, "tls.crt", &c->cert);
    write_data(&j, "tls.key", &c->key);
    write_data(&j, "ca.crt", &c->ca);
    json_close(&j, '}');
    json_close(&j, '}');
}

static bool is_ours(struct str reply)
{
    struct json_view root, meta, labels, value;
    struct buf text = BUF_INIT(ROOM);
    bool ours = json_view(reply, &root) &&
                json_view_member(root, STR("metadata"), &meta) &&
                json_view_member(meta, STR("labels"), &labels) &&
                json_view_member(labels, STR(LABEL), &value) &&
                json_view_string(value, &text) &&
                str_eq(buf_str(&text), STR(OURS));

    buf_release(&text);
    return ours;
}

bool tls_secret_look(struct tls_secret *t, struct kubectl_failure *why)
{
    const char *const args[] = {
        "get", "secret", t->name,       "--ignore-not-found",
        "-o",  "json",   "--namespace", t->namespace_name,
        NULL};
    struct buf reply = BUF_INIT(SECRET_MAX);
    bool ok = kubectl_run(&t->session->kubectl, args, STR(""), &reply, why);

    t->is_there = ok && str_trim(buf_str(&reply)).n > 0;
    t->is_ours = t->is_there && is_ours(buf_str(&reply));
    wipe(&reply);
    return ok;
}

bool tls_secret_prepare(struct tls_secret *t, struct kubectl_failure *why)
{
    struct certificate c;
    struct error err;

    if (!tls_secret_look(t, why))
        return false;
    if (t->is_there)
        return true;
    const char *names = arena_printf(
        t->session->arena, "localhost,%s,%s.%s,%s.%s.svc", t->owner, t->owner,
        t->namespace_name, t->owner, t->namespace_name);
    if (!certificate_make(&c, t->owner, names, &err)) {
        kubectl_failure_set(why, KUBECTL_OTHER, "%.400s", err.text);
        return false;
    }
    write_manifest(t, &c);
    certificate_release(&c);
    return true;
}

bool tls_secret_create(struct tls_secret *t, bool dry_run,
                       struct kubectl_failure *why)
{
    const char *const args[] = {"create",
                                "-f",
                                "-",
                                "--validate=false",
                                "--namespace",
                                t->namespace_name,
                                dry_run ? "--dry-run=server" : NULL,
                                NULL};
    struct buf out = BUF_INIT(SECRET_MAX);
    bool ok = t->is_there || kubectl_run(&t->session->kubectl, args,
                                         buf_str(&t->manifest), &out, why);

    if (ok && !dry_run && !t->is_there)
        t->is_there = t->is_ours = true;
    buf_release(&out);
    return ok;
}

bool tls_secret_remove(struct tls_secret *t, struct kubectl_failure *why)
{
    const char *const args[] = {
        "delete",      "secret",          t->name, "--ignore-not-found",
        "--namespace", t->namespace_name, NULL};
    struct buf out = BUF_INIT(SECRET_MAX);
    bool ok = !t->is_ours ||
              kubectl_run(&t->session->kubectl, args, STR(""), &out, why);

    buf_release(&out);
    return ok;
}

void tls_secret_release(struct tls_secret *t)
{
    wipe(&t->manifest);
}
