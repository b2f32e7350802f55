/*
 * Bytes as a pod's JSON: whatever is read survives the way into a record and
 * back, and its targets have an address, or an error has words.
 */
#include <stdint.h>
#include <stdlib.h>

#include "config/document.h"
#include "kube/pod_record.h"
#include "kube/targets.h"

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_targets(struct arena *a, const struct kube_pod *pod,
                          enum kube_mode mode)
{
    const struct str names[] = {STR("app"), STR("")};
    struct kube_target_options options = {mode, names, 2};
    struct kube_targets targets = {0};
    struct error err = {""};

    if (!kube_pod_targets(a, pod, &options, &targets, &err)) {
        must(err.text[0] && targets.n == 0);
        return;
    }
    must(targets.n == 0 || kube_pod_is_wanted(pod, &options));
    for (size_t i = 0; i < targets.n; i++) {
        const struct label_set *s = &targets.v[i];

        must(label_set_get(s, STR("__address__")).n > 0);
        must(label_set_get(s, STR("__path_prefix__")).n > 0 ||
             mode == KUBE_BY_ANNOTATION);
        must(label_set_get(s, STR("__service_name__")).n > 0);
        for (size_t k = 1; k < s->n; k++)
            must(str_cmp(s->v[k - 1].name, s->v[k].name) < 0);
    }
}

static void check_record(struct arena *a, const struct kube_pod *pod)
{
    struct buf one = BUF_INIT(1 << 24), two = BUF_INIT(1 << 24);
    struct kube_pod again;

    pod_record_write(&one, pod);
    must(pod_record_read(a, buf_str(&one), &again));
    pod_record_write(&two, &again);
    must(str_eq(buf_str(&one), buf_str(&two)));
    buf_release(&one);
    buf_release(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document_limits limits = {
        .bytes = 1 << 20, .nodes = 20000, .depth = 64};
    struct str text = str_of((const char *)data, size);
    struct arena *a = arena_new();
    struct error err = {""};
    struct kube_pod pod;
    const struct node *root = document_read_json(
        a, (struct document_source){"fuzz", text}, &limits, &err);

    if (root && kube_pod_read(a, root, &pod, &err)) {
        check_record(a, &pod);
        check_targets(a, &pod, KUBE_BY_ANNOTATION);
        check_targets(a, &pod, KUBE_EVERY_PORT);
    } else {
        must(err.text[0]);
    }
    /* The same bytes as a record that somebody damaged. */
    pod_record_read(a, text, &pod);
    arena_free(a);
    return 0;
}
