/*
 * Lists of labels, kinds and URLs that an environment may hold: everything
 * stays within its bounds, the request line can be sent as it is, and a
 * password is in no message.
 */
#include <stdint.h>
#include <stdlib.h>

#include "http/client/http_client.h"
#include "runtime/push/push_labels.h"
#include "runtime/push/push_options.h"

static char *text;

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* Every variable has the same value. */
static char *get(const char *name)
{
    (void)name;
    return text;
}

static void check_labels(void)
{
    struct buf out = BUF_INIT(1 << 20);
    struct push_labels labels;
    char service[128];
    bool has_pid;

    push_labels_read(text, get, &labels, &has_pid);
    push_labels_write(&labels, &out);
    must(labels.n <= PUSH_LABELS_MAX && buf_ok(&out));
    for (size_t i = 0; i < out.len; i++)
        must(out.data[i] > ' ' && out.data[i] < 0x7f && out.data[i] != '&');
    for (size_t i = 0; i < labels.n; i++)
        must(labels.v[i].key[0] && labels.v[i].value[0]);
    push_service_read(NULL, get, service, sizeof(service));
    buf_release(&out);
}

static void check_url(struct str url)
{
    struct http_url u;
    struct error err;

    if (!http_url_parse(url, &u, &err))
        return;
    must(u.host[0] && u.port[0]);
    for (const char *c = u.path; *c; c++)
        must(*c > ' ' && *c != 0x7f);
    for (const char *c = u.host; *c; c++)
        must(*c > ' ' && *c != '@');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool kinds[PUSH_KINDS];
    struct error err;

    text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    check_labels();
    push_kinds_parse(text, kinds, &err);
    check_url(str_of(text, size));
    free(text);
    return 0;
}
