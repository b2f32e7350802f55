#include "collector/scrape/target_groups.h"

#include "collector/scrape/keys.h"
#include "collector/scrape/relabel.h"
#include "config/document.h"

const struct document_limits target_groups_limits = {
    .bytes = (size_t)32 << 20, .nodes = 2000000, .depth = 16};

static bool read_labels(struct label_set *out, struct arena *a,
                        const struct node *group, struct error *err)
{
    const struct node *labels = NULL;

    if (!node_map(group, "labels", &labels, err))
        return false;
    for (size_t i = 0; labels && i < labels->n; i++) {
        struct str value;

        if (!relabel_is_label_name(labels->keys[i]))
            return node_fail_key(labels->items[i], err,
                                 "cannot be a label: names are letters, "
                                 "digits and _");
        if (!node_is_text(labels->items[i], &value, err))
            return false;
        label_set_put(a, out, labels->keys[i], value);
    }
    return true;
}

static bool read_group(struct scrape_targets *out, struct arena *a,
                       const struct node *group, struct error *err)
{
    struct label_set labels = {0};
    struct keys_static keys = {0};

    if (!node_is_map(group, err) ||
        !keys_read(KEYS_STATIC, group, &keys, a, err) ||
        !read_labels(&labels, a, group, err) || !node_check_keys(group, err))
        return false;
    for (size_t i = 0; i < keys.targets.list.n; i++) {
        struct label_set *t = vec_push(a, &out->list);

        if (out->list.n > TARGET_GROUPS_MAX)
            return node_fail(group, err, "has more than %d targets",
                             TARGET_GROUPS_MAX);
        *t = (struct label_set){0};
        for (size_t k = 0; k < labels.n; k++)
            label_set_put(a, t, labels.v[k].name, labels.v[k].value);
        label_set_put(a, t, STR("__address__"), keys.targets.list.v[i]);
    }
    return true;
}

bool target_groups_read(struct scrape_targets *out, struct arena *a,
                        const struct node *list, struct error *err)
{
    if (!node_is_list(list, err))
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (!read_group(out, a, list->items[i], err))
            return false;
    return true;
}
