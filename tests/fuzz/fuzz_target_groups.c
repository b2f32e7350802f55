/*
 * Lists of targets from files and web servers: as JSON if the text begins
 * with a bracket, else as YAML.  What is accepted becomes targets or gets a
 * reason why not.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "collector/scrape/target.h"
#include "collector/scrape/target_groups.h"
#include "config/document.h"

static void try_target(struct arena *a, const struct label_set *found)
{
    static const struct scrape_job job = {.name = STR_INIT("job"),
                                          .scheme = STR_INIT("http"),
                                          .path_prefix = STR_INIT("/p"),
                                          .interval_ns = 60 * SECOND};
    struct error err = {""};
    struct target t, *copy;

    if (target_make(&t, a, &job, found, &err) != TARGET_KEPT) {
        if (!err.text[0])
            abort();
        return;
    }
    copy = target_copy(&t);
    if (!copy || !str_eq(copy->url, t.url) || copy->service.n == 0 ||
        copy->instance.n == 0 || !label_set_equal(&copy->labels, &t.labels))
        abort();
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct document_limits limits = {
        .bytes = 1 << 16, .nodes = 1 << 12, .depth = 16};
    struct str text = str_of((const char *)data, size);
    struct document_source source = {"targets", text};
    struct arena *a = arena_new();
    struct scrape_targets targets = {0};
    struct error err;
    const struct node *root =
        str_has_prefix(text, STR("["))
            ? document_read_json(a, source, &limits, &err)
            : document_read_yaml(a, source, &limits, &err);

    if (root && target_groups_read(&targets, a, root, &err))
        for (size_t i = 0; i < targets.list.n; i++)
            try_target(a, &targets.list.v[i]);
    arena_free(a);
    return 0;
}
