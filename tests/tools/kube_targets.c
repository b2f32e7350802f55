/*
 * Prints what src/kube discovers: a line of JSON whenever the targets, the
 * status or a Secret change, until stdin ends.
 *
 *     kube-targets [OPTION=VALUE…]
 *
 * The options are those of struct kube_discovery_options; tests set pauses
 * short.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "kube/discovery.h"

#define MAX_LIST     32
#define LINE_BYTES   ((size_t)256 << 20)
#define STATUS_BYTES 8192

struct settings {
    struct kube_discovery_options options;
    struct str namespaces[MAX_LIST], pod_labels[MAX_LIST];
    struct str secret;
};

static bool set_text(struct settings *s, struct str name, const char *value)
{
    struct kube_discovery_options *o = &s->options;
    struct kube_access_options *x = &o->access;
    const struct {
        struct str name;
        const char **text;
    } texts[] = {
        {STR("api-server"), &x->api_server},
        {STR("token-file"), &x->token_file},
        {STR("ca-file"), &x->ca_file},
        {STR("cert-file"), &x->cert_file},
        {STR("key-file"), &x->key_file},
        {STR("kubectl"), &x->kubectl},
        {STR("kubeconfig"), &x->kubeconfig},
        {STR("context"), &x->context},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (str_eq(name, texts[i].name)) {
            *texts[i].text = value;
            return true;
        }
    return false;
}

static bool set_number(struct settings *s, struct str name, const char *value)
{
    struct kube_discovery_options *o = &s->options;
    long n = strtol(value, NULL, 10);

    if (str_eq(name, STR("page")))
        o->page = (int)n;
    else if (str_eq(name, STR("watch-seconds")))
        o->watch_seconds = (int)n;
    else if (str_eq(name, STR("min-pause-ms")))
        o->min_pause_ns = n * 1000000;
    else if (str_eq(name, STR("max-pause-ms")))
        o->max_pause_ns = n * 1000000;
    else if (str_eq(name, STR("max-object-bytes")))
        o->max_object_bytes = (size_t)n;
    else if (str_eq(name, STR("max-bytes")))
        o->max_bytes = (size_t)n;
    else if (str_eq(name, STR("secret-again-ms")))
        o->secret_again_ns = n * 1000000;
    else
        return false;
    return true;
}

static bool set(struct settings *s, struct str name, const char *value)
{
    struct kube_discovery_options *o = &s->options;

    if (str_eq(name, STR("namespace")) && o->n_namespaces < MAX_LIST)
        s->namespaces[o->n_namespaces++] = str_from(value);
    else if (str_eq(name, STR("pod-label")) &&
             o->targets.n_pod_labels < MAX_LIST)
        s->pod_labels[o->targets.n_pod_labels++] = str_from(value);
    else if (str_eq(name, STR("labels")))
        o->label_selector = str_from(value);
    else if (str_eq(name, STR("fields")))
        o->field_selector = str_from(value);
    else if (str_eq(name, STR("mode")))
        o->targets.mode = strcmp(value, "every-port") == 0 ? KUBE_EVERY_PORT
                                                           : KUBE_BY_ANNOTATION;
    else if (str_eq(name, STR("secret")))
        s->secret = str_from(value);
    else
        return set_text(s, name, value) || set_number(s, name, value);
    return true;
}

static void write_targets(struct json *j, const struct label_set *targets,
                          size_t n)
{
    json_key(j, STR("targets"));
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, '{');
        for (size_t k = 0; k < targets[i].n; k++) {
            json_key(j, targets[i].v[k].name);
            json_string(j, targets[i].v[k].value);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Its parts by their length and hash: keys do not belong on a terminal. */
static void write_secret(struct json *j, struct arena *a,
                         struct kube_discovery *d, struct str name)
{
    struct kube_tls tls;
    struct error err;

    json_key(j, STR("secret"));
    if (!kube_discovery_secret(d, a, name, &tls, &err)) {
        json_string(j, str_from(err.text));
        return;
    }
    const struct str parts[] = {tls.cert, tls.key, tls.ca};

    json_open(j, '[');
    for (int i = 0; i < 3; i++) {
        unsigned char hash[32];
        char hex[65] = "";

        sha256(parts[i], hash);
        for (int k = 0; k < 32; k++)
            snprintf(hex + 2 * k, 3, "%02x", hash[k]);
        json_string(j, str_from(parts[i].n ? hex : ""));
    }
    json_close(j, ']');
}

static bool print_line(struct kube_discovery *d, uint64_t version,
                       struct str status, struct str secret)
{
    struct buf line = BUF_INIT(LINE_BYTES);
    struct json j = json_start(&line, 0);
    struct arena *a = arena_new();
    struct label_set *targets;
    struct error err;
    size_t n;

    if (!kube_discovery_snapshot(d, a, &targets, &n, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    json_open(&j, '{');
    json_key(&j, STR("version"));
    json_i64(&j, (int64_t)version);
    json_key(&j, STR("listed"));
    json_bool(&j, kube_discovery_wait(d, 0, &err));
    json_key(&j, STR("status"));
    json_string(&j, status);
    if (secret.n)
        write_secret(&j, a, d, secret);
    write_targets(&j, targets, n);
    json_close(&j, '}');
    buf_add_char(&line, '\n');
    arena_free(a);
    bool ok = file_write_fd(1, "stdout", buf_str(&line), &err);
    buf_release(&line);
    return ok;
}

static void watch(struct kube_discovery *d, struct str secret)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    struct buf status = BUF_INIT(STATUS_BYTES), last = BUF_INIT(STATUS_BYTES);
    uint64_t seen = 0;
    char byte;

    while (poll(&in, 1, 10) == 0 || read(0, &byte, 1) > 0) {
        uint64_t version = kube_discovery_version(d);

        buf_clear(&status);
        kube_discovery_status(d, &status);
        if (version == seen && str_eq(buf_str(&status), buf_str(&last)))
            continue;
        seen = version;
        buf_clear(&last);
        buf_add(&last, buf_str(&status));
        if (!print_line(d, version, buf_str(&status), secret))
            break;
    }
    buf_release(&status);
    buf_release(&last);
}

int main(int argc, char **argv)
{
    static struct settings s;
    struct kube_discovery *d;
    struct error err;

    s.options.namespaces = s.namespaces;
    s.options.targets.pod_labels = s.pod_labels;
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');

        if (!equals ||
            !set(&s, str_of(argv[i], (size_t)(equals - argv[i])), equals + 1)) {
            fprintf(stderr, "kube-targets: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    d = kube_discovery_new(&s.options, &err);
    if (!d) {
        fprintf(stderr, "kube-targets: %s\n", err.text);
        return 1;
    }
    watch(d, s.secret);
    kube_discovery_free(d);
    return 0;
}
