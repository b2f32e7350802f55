/*
 * Rewrites the label array of all samples in one pass, keeping the order that
 * the model requires.
 */
#include "profile/set_label.h"

#include <string.h>

#include "profile/sweep.h"

/* Returns true if the key belongs before this label in the sample's list. */
static bool goes_before(const struct profile *p, string_id key,
                        const struct label *label)
{
    return label->kind != LABEL_STRING ||
           str_cmp(profile_str(p, key), profile_str(p, label->key)) < 0;
}

void profile_set_label(struct profile *p, struct str key, struct str value)
{
    struct label label = {
        .key = profile_intern(p, key),
        .str = profile_intern(p, value),
        .kind = LABEL_STRING,
    };
    struct label *labels = arena_new_array(
        p->arena, struct label, p->label_start[p->n_samples] + p->n_samples);
    size_t to = 0, from = 0;

    for (size_t i = 0; i < p->n_samples; i++) {
        size_t end = p->label_start[i + 1];
        bool placed = false;

        for (; from < end; from++) {
            if (p->labels[from].kind == LABEL_STRING &&
                p->labels[from].key == label.key)
                continue;
            if (!placed && goes_before(p, label.key, &p->labels[from])) {
                labels[to++] = label;
                placed = true;
            }
            labels[to++] = p->labels[from];
        }
        if (!placed)
            labels[to++] = label;
        p->label_start[i + 1] = to;
    }
    p->labels = labels;
}

void profile_remove_label(struct profile *p, struct str key)
{
    string_id id = profile_find_string(p, key);
    struct sweep s;

    if (id == NO_INDEX)
        return;
    sweep_init(&s, p);
    while (sweep_next(&s)) {
        size_t to = s.label;

        for (size_t i = s.label; i < s.label_end; i++)
            if (p->labels[i].kind != LABEL_STRING || p->labels[i].key != id)
                p->labels[to++] = p->labels[i];
        s.label_end = to;
        sweep_keep(&s);
    }
}
