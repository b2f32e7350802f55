/*
 * Objects of the API are read leniently: what is missing is empty, what is
 * not known is passed over.
 */
#include "kube/kubectl_json.h"

#include "config/document.h"

static const struct document_limits limits = {
    .bytes = KUBECTL_MAX_REPLY, .nodes = 50000000, .depth = 64};

const struct node *kubectl_json_at(const struct node *map, const char *key)
{
    return map && map->kind == NODE_MAP ? node_get(map, key) : NULL;
}

struct str kubectl_json_text(const struct node *map, const char *key)
{
    const struct node *n = kubectl_json_at(map, key);

    return n && n->kind == NODE_SCALAR ? n->text : STR("");
}

const struct node *kubectl_json(struct arena *a, const struct kubectl *k,
                                const char *const *arguments,
                                struct kubectl_failure *why)
{
    struct buf out = BUF_INIT(KUBECTL_MAX_REPLY);
    const struct node *root = NULL;
    struct error err;

    if (kubectl_run(k, arguments, STR(""), &out, why)) {
        root = document_read_json(
            a, (struct document_source){"kubectl get", buf_str(&out)}, &limits,
            &err);
        if (!root)
            kubectl_failure_set(why, KUBECTL_OTHER, "%.400s", err.text);
    }
    buf_release(&out);
    return root;
}
