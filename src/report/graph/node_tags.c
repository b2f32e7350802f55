/*
 * Labels become tags of nodes.  A sample's labels are joined to texts once;
 * each node on its stack then adds the sample's weight to the tag with that
 * text.  At the end the tags are linked by node, because boxes are drawn node
 * by node.
 */
#include "report/graph/node_tags.h"

#include <stdlib.h>

#include "base/i64.h"
#include "report/sample_labels.h"
#include "report/total.h"

struct sample_tags {
    struct node_tags *tags;
    const struct report *report;
    string_id base_key, bytes_key;
    string_id label;
    VEC(int64_t) values;
    VEC(string_id) names; /* of the values */
    struct text_list texts;
    struct buf joined;
};

void node_tags_init(struct node_tags *t, struct arena *a,
                    const struct report *r)
{
    string_id bytes = profile_find_string(r->profile, STR("bytes"));

    *t = (struct node_tags){.arena = a, .profile = r->profile};
    if (bytes != NO_INDEX)
        t->unit = label_units_of(&r->label_units, r->profile, bytes);
    map_init(&t->index, a, 0);
}

struct sample_tags *sample_tags_new(struct node_tags *t, const struct report *r)
{
    struct sample_tags *s = arena_alloc(t->arena, sizeof(*s));

    s->tags = t;
    s->report = r;
    s->base_key = profile_find_string(t->profile, BASE_LABEL_KEY);
    s->bytes_key = profile_find_string(t->profile, STR("bytes"));
    s->joined = arena_buf(t->arena);
    text_list_init(&s->texts, t->arena);
    return s;
}

void sample_tags_free(struct sample_tags *s)
{
    text_list_release(&s->texts);
    buf_release(&s->joined);
}

static void add_value(struct sample_tags *s, int64_t value)
{
    struct node_tags *t = s->tags;

    buf_clear(&s->joined);
    measure_label(&s->joined, value, t->unit, s->report->config.unit);
    *vec_push(t->arena, &s->names) =
        profile_intern(t->profile, buf_str(&s->joined));
    *vec_push(t->arena, &s->values) = value;
}

static void add_text(struct sample_tags *s, const struct label *l)
{
    const struct profile *p = s->tags->profile;

    buf_add(&s->texts.bytes, profile_str(p, l->key));
    buf_add_char(&s->texts.bytes, ':');
    buf_add(&s->texts.bytes, profile_str(p, l->str));
    text_list_end(&s->texts);
}

bool sample_tags_read(struct sample_tags *s, size_t sample)
{
    const struct profile *p = s->tags->profile;
    size_t end = p->label_start[sample + 1];

    s->values.n = 0;
    s->names.n = 0;
    for (size_t i = p->label_start[sample]; i < end; i++) {
        const struct label *l = &p->labels[i];

        if (l->kind == LABEL_STRING && l->key != s->base_key)
            add_text(s, l);
        else if (l->kind != LABEL_STRING && l->key == s->bytes_key)
            add_value(s, l->num);
    }
    buf_clear(&s->joined);
    text_list_flush(&s->texts, &s->joined, STR("\\n"));
    s->label = profile_intern(s->tags->profile, buf_str(&s->joined));
    return s->label || s->values.n > 0;
}

static struct tag *find_or_add(struct node_tags *t, const struct tag *key)
{
    uint64_t hash = map_mix(0, (uint64_t)key->node << 1 | key->is_numeric);
    struct map_cursor c;
    struct tag *tag;

    hash = map_mix(hash, (uint64_t)key->label << 32 | key->name);
    c = map_find(&t->index, hash);
    while (map_next(&t->index, &c)) {
        tag = &t->all.v[c.record];
        if (tag->node == key->node && tag->is_numeric == key->is_numeric &&
            tag->label == key->label && tag->name == key->name)
            return tag;
    }
    map_add(&t->index, &c, (uint32_t)t->all.n);
    tag = vec_push(t->arena, &t->all);
    *tag = *key;
    return tag;
}

static void add_weight(struct tag *t, bool flat, int64_t weight,
                       int64_t weight_div)
{
    int64_t *sum = flat ? &t->flat : &t->cum;
    int64_t *div = flat ? &t->flat_div : &t->cum_div;

    *sum = i64_add(*sum, weight);
    *div = i64_add(*div, weight_div);
}

void sample_tags_add(struct sample_tags *s, uint32_t node, bool flat,
                     int64_t weight, int64_t weight_div)
{
    struct tag key = {.node = node, .label = s->label};

    if (s->label)
        add_weight(find_or_add(s->tags, &key), flat, weight, weight_div);
    key.is_numeric = true;
    for (size_t i = 0; i < s->values.n; i++) {
        key.name = s->names.v[i];
        key.value = s->values.v[i];
        add_weight(find_or_add(s->tags, &key), flat, weight, weight_div);
    }
}

void node_tags_link(struct node_tags *t, size_t n_nodes)
{
    size_t *fill = arena_new_array(t->arena, size_t, n_nodes + 1);

    t->start = arena_new_array(t->arena, size_t, n_nodes + 1);
    t->of_node = arena_new_array(t->arena, uint32_t, t->all.n);
    for (size_t i = 0; i < t->all.n; i++)
        t->start[t->all.v[i].node + 1]++;
    for (size_t i = 0; i < n_nodes; i++)
        t->start[i + 1] += t->start[i];
    memcpy(fill, t->start, n_nodes * sizeof(*fill));
    for (size_t i = 0; i < t->all.n; i++)
        t->of_node[fill[t->all.v[i].node]++] = (uint32_t)i;
}
