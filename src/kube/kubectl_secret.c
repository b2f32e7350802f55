#include "kube/kubectl_secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/json_view.h"

#define SECRET_MAX ((size_t)4 << 20)

/* Names that people give to the parts; the first that is there counts. */
static const char *const cert_names[] = {"tls.crt", "client.crt", "cert.pem",
                                         "etcd-client.crt", NULL};
static const char *const key_names[] = {"tls.key", "client.key", "key.pem",
                                        "etcd-client.key", NULL};
static const char *const ca_names[] = {"ca.crt", "ca-bundle.crt", "ca.pem",
                                       "etcd-ca.crt", NULL};

static bool find(struct json_view data, const char *const *names,
                 struct buf *text)
{
    struct json_view value;

    for (size_t i = 0; names[i]; i++)
        if (json_view_member(data, str_from(names[i]), &value) &&
            json_view_string(value, text))
            return text->len > 0;
    return false;
}

/* The decoded bytes as a file without a name; -1 when that fails. */
static int memory_file(struct str encoded)
{
    char *bytes = malloc(encoded.n + 1);
    ptrdiff_t n = bytes ? base64_decode(encoded, bytes) : -1;
    int fd = n < 0 ? -1 : memfd_create("pprof-certificate", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, bytes, (size_t)n) != n) {
        close(fd);
        fd = -1;
    }
    if (bytes)
        explicit_bzero(bytes, encoded.n + 1);
    free(bytes);
    return fd;
}

static bool take(struct arena *a, struct json_view data,
                 const char *const *names, int *fd, struct str *path)
{
    struct buf text = BUF_INIT(SECRET_MAX);

    if (find(data, names, &text))
        *fd = memory_file(buf_str(&text));
    if (*fd >= 0)
        *path = str_from(arena_printf(a, "/proc/self/fd/%d", *fd));
    if (text.data)
        explicit_bzero(text.data, text.cap);
    buf_release(&text);
    return *fd >= 0;
}

static bool unpack(struct arena *a, struct str reply, const char *name,
                   struct kubectl_secret *out, struct kubectl_failure *why)
{
    struct json_view root, data;

    if (!json_view(reply, &root) ||
        !json_view_member(root, STR("data"), &data)) {
        kubectl_failure_set(why, KUBECTL_OTHER, "secret %s has no data", name);
        return false;
    }
    take(a, data, ca_names, &out->ca_fd, &out->ca);
    bool cert = take(a, data, cert_names, &out->cert_fd, &out->cert);
    bool key = take(a, data, key_names, &out->key_fd, &out->key);
    if (cert != key || (!cert && out->ca_fd < 0)) {
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "secret %s has no client certificate: it needs "
                            "tls.crt and tls.key, and may have ca.crt",
                            name);
        kubectl_secret_release(out);
        return false;
    }
    return true;
}

bool kubectl_secret_load(struct arena *a, const struct kubectl *k,
                         const char *namespace_name, const char *name,
                         struct kubectl_secret *out,
                         struct kubectl_failure *why)
{
    const char *slash = strchr(name, '/');
    const char *args[8] = {"get", "secret", slash ? slash + 1 : name, "-o",
                           "json"};
    struct buf reply = BUF_INIT(SECRET_MAX);

    *out = KUBECTL_SECRET_INIT;
    if (slash)
        namespace_name = arena_cstr(a, str_of(name, (size_t)(slash - name)));
    if (namespace_name) {
        args[5] = "--namespace";
        args[6] = namespace_name;
    }
    bool ok = kubectl_run(k, args, STR(""), &reply, why) &&
              unpack(a, buf_str(&reply), name, out, why);
    if (reply.data)
        explicit_bzero(reply.data, reply.cap);
    buf_release(&reply);
    return ok;
}

void kubectl_secret_release(struct kubectl_secret *s)
{
    int *fds[] = {&s->cert_fd, &s->key_fd, &s->ca_fd};

    for (size_t i = 0; i < 3; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    s->cert = s->key = s->ca = STR("");
}
