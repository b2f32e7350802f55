/*
 * Everything is copied into fixed room, because it must outlive the
 * environment: the PPROF_ variables are taken out of it after the start.
 */
#include "runtime/push/push_labels.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/percent.h"
#include "runtime/say.h"

/* Attributes of OpenTelemetry that have a short name here. */
static const struct {
    const char *attribute, *label;
} renamed[] = {
    {"k8s.pod.name", "pod"},   {"k8s.namespace.name", "namespace"},
    {"k8s.node.name", "node"}, {"k8s.container.name", "container"},
    {"host.name", "host"},
};

static const struct {
    const char *variable, *label;
} downward[] = {
    {"POD_NAME", "pod"},
    {"K8S_POD_NAME", "pod"},
    {"MY_POD_NAME", "pod"},
    {"POD_NAMESPACE", "namespace"},
    {"K8S_NAMESPACE", "namespace"},
    {"K8S_POD_NAMESPACE", "namespace"},
    {"MY_POD_NAMESPACE", "namespace"},
    {"NODE_NAME", "node"},
    {"K8S_NODE_NAME", "node"},
    {"MY_NODE_NAME", "node"},
    {"CONTAINER_NAME", "container"},
    {"K8S_CONTAINER_NAME", "container"},
    {"MY_CONTAINER_NAME", "container"},
    {"HOSTNAME", "host"},
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static bool has(const struct push_labels *l, struct str key)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(str_from(l->v[i].key), key))
            return true;
    return false;
}

/* Without its end where it is too long, but with whole characters of UTF-8;
 * control characters become blanks. */
static void copy(char *out, size_t size, struct str text)
{
    if (text.n >= size) {
        text.n = size - 1;
        while (text.n && ((unsigned char)text.s[text.n] & 0xc0) == 0x80)
            text.n--;
    }
    for (size_t i = 0; i < text.n; i++)
        out[i] = (unsigned char)text.s[i] < ' ' ? ' ' : text.s[i];
    out[text.n] = '\0';
}

/* The first label of a key counts. */
static void add(struct push_labels *l, struct str key, struct str value)
{
    key = str_first(key, PUSH_LABEL_KEY_MAX - 1);
    if (key.n == 0 || has(l, key))
        return;
    if (l->n == PUSH_LABELS_MAX) {
        l->lost++;
        return;
    }
    copy(l->v[l->n].key, sizeof(l->v[l->n].key), key);
    copy(l->v[l->n].value, sizeof(l->v[l->n].value), value);
    l->n++;
}

/* Takes "key=value" off the front of a list; decoded into `room`, which is
 * as long as the list. */
static bool next(struct str *list, char *room, struct str *key,
                 struct str *value)
{
    struct str pair;
    ptrdiff_t equals, n, m;

    while (str_split(list, ',', &pair)) {
        equals = str_find_char(pair, '=');
        *key = str_trim(equals < 0 ? pair : str_first(pair, (size_t)equals));
        *value =
            equals < 0 ? STR("") : str_trim(str_skip(pair, (size_t)equals + 1));
        n = percent_decode(*key, false, room);
        m = n < 0 ? -1 : percent_decode(*value, false, room + n);
        if (n <= 0 || m < 0)
            continue; /* no key, or a bad escape */
        *key = str_of(room, (size_t)n);
        *value = str_of(room + n, (size_t)m);
        return true;
    }
    return false;
}

#define LIST_MAX 8192 /* bytes of a list that are looked at */

static void add_list(struct push_labels *l, const char *text, bool is_otel)
{
    struct str list = str_first(str_from(text), LIST_MAX), key, value;
    char room[LIST_MAX];

    while (next(&list, room, &key, &value)) {
        if (is_otel && str_eq(key, STR("service.name")))
            continue;
        for (size_t i = 0; is_otel && i < N(renamed); i++)
            if (str_eq(key, str_from(renamed[i].attribute)))
                key = str_from(renamed[i].label);
        add(l, key, value);
    }
}

static void add_host(struct push_labels *l)
{
    char name[256] = "";

    if (!has(l, STR("host")) && gethostname(name, sizeof(name) - 1) == 0)
        add(l, STR("host"), str_from(name));
}

/* Labels that were set to nothing have kept others out. */
static void drop_empty(struct push_labels *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].value[0])
            l->v[n++] = l->v[i];
    l->n = n;
}

void push_labels_read(const char *labels, push_getenv_fn *get,
                      struct push_labels *out, bool *has_pid)
{
    *out = (struct push_labels){0};
    add_list(out, labels, false);
    add_list(out, get("PPROF_LABELS"), false);
    add_list(out, get("OTEL_RESOURCE_ATTRIBUTES"), true);
    for (size_t i = 0; i < N(downward); i++) {
        const char *value = get(downward[i].variable);

        if (value && *value)
            add(out, str_from(downward[i].label), str_from(value));
    }
    add_host(out);
    *has_pid = !has(out, STR("pid"));
    drop_empty(out);
}

void push_service_read(const char *service, push_getenv_fn *get, char *out,
                       size_t size)
{
    const char *places[] = {service, get("PPROF_SERVICE"),
                            get("OTEL_SERVICE_NAME")};
    struct str list = str_first(str_from(get("OTEL_RESOURCE_ATTRIBUTES")),
                                LIST_MAX),
               key, value;
    char room[LIST_MAX];

    for (size_t i = 0; i < N(places); i++) {
        if (!places[i] || !*places[i])
            continue;
        copy(out, size, str_from(places[i]));
        return;
    }
    while (next(&list, room, &key, &value)) {
        if (!str_eq(key, STR("service.name")) || value.n == 0)
            continue;
        copy(out, size, value);
        return;
    }
    copy(out, size, str_from(say_program()));
}

void push_label_append(struct buf *out, struct str key, struct str value)
{
    struct buf once =
        BUF_INIT(3 * (PUSH_LABEL_KEY_MAX + PUSH_LABEL_VALUE_MAX) + 2);

    if (out->len)
        buf_add_char(&once, ',');
    percent_encode(&once, key, "");
    buf_add_char(&once, '=');
    percent_encode(&once, value, "");
    if (buf_ok(&once))
        percent_encode(out, buf_str(&once), "");
    out->failed |= !buf_ok(&once);
    buf_release(&once);
}

void push_labels_write(const struct push_labels *labels, struct buf *out)
{
    for (size_t i = 0; i < labels->n; i++)
        push_label_append(out, str_from(labels->v[i].key),
                          str_from(labels->v[i].value));
}
