/*
 * A million samples share few combinations of labels.  So a frame is looked
 * up first by the labels it comes from, without printing them; only a
 * combination not seen before is printed, and then looked up by its text,
 * because different labels may read the same.
 */
#include "profile/tag_frames.h"

#include <string.h>

#include "profile/measure.h"

/* The labels of one key in one sample: string values, then numbers. */
struct labels_of_key {
    size_t strings, n_strings; /* from p->labels[strings] on */
    size_t numbers, n_numbers;
};

struct seen {
    string_id key;
    struct labels_of_key labels;
    uint32_t location;
};

struct key_list {
    string_id *v;
    size_t n, cap;
};

struct maker {
    struct profile *p;
    struct key_list roots, leaves;
    struct arena *scratch;
    struct str unit;
    struct map by_labels;
    VEC(struct seen) seen;
    struct map by_text; /* function name and file to location */
    uint64_t next_location_id, next_function_id;
};

/* The labels of the key among labels[from..to) that are texts, or numbers;
 * they are neighbours.  The number of them. */
static size_t find_run(const struct profile *p, size_t from, size_t to,
                       string_id key, bool texts, size_t *start)
{
    size_t n = 0;

    *start = from;
    for (size_t i = from; i < to; i++) {
        const struct label *label = &p->labels[i];

        if ((label->kind == LABEL_STRING) == texts && label->key == key) {
            if (n++ == 0)
                *start = i;
        }
    }
    return n;
}

static struct labels_of_key labels_of(const struct profile *p, size_t sample,
                                      string_id key)
{
    size_t from = p->label_start[sample], to = p->label_start[sample + 1];
    struct labels_of_key found;

    found.n_strings = find_run(p, from, to, key, true, &found.strings);
    found.n_numbers = find_run(p, from, to, key, false, &found.numbers);
    return found;
}

static uint64_t hash_labels(const struct profile *p, string_id key,
                            const struct labels_of_key *l, uint64_t seed)
{
    uint64_t h = map_mix(map_mix(seed ^ l->n_strings, l->n_numbers), key);

    for (size_t i = 0; i < l->n_strings; i++)
        h = map_mix(h, p->labels[l->strings + i].str);
    for (size_t i = 0; i < l->n_numbers; i++) {
        h = map_mix(h, (uint64_t)p->labels[l->numbers + i].num);
        h = map_mix(h, p->labels[l->numbers + i].str);
    }
    return h;
}

static bool same_labels(const struct profile *p, const struct labels_of_key *a,
                        const struct labels_of_key *b)
{
    if (a->n_strings != b->n_strings || a->n_numbers != b->n_numbers)
        return false;
    for (size_t i = 0; i < a->n_strings; i++)
        if (p->labels[a->strings + i].str != p->labels[b->strings + i].str)
            return false;
    for (size_t i = 0; i < a->n_numbers; i++) {
        const struct label *x = &p->labels[a->numbers + i];
        const struct label *y = &p->labels[b->numbers + i];

        if (x->num != y->num || x->str != y->str || x->kind != y->kind)
            return false;
    }
    return true;
}

static string_id print_labels(struct maker *m, const struct labels_of_key *l)
{
    struct buf text = arena_buf(m->scratch);
    string_id id;

    for (size_t i = 0; i < l->n_strings; i++) {
        if (i)
            buf_add_char(&text, ',');
        buf_add(&text, profile_str(m->p, m->p->labels[l->strings + i].str));
    }
    for (size_t i = 0; i < l->n_numbers; i++) {
        const struct label *number = &m->p->labels[l->numbers + i];

        if (i || l->n_strings)
            buf_add_char(&text, ',');
        if (number->kind == LABEL_MEASURE)
            measure_label(&text, number->num, profile_str(m->p, number->str),
                          m->unit);
        else
            measure_label(&text, number->num, STR(""), STR(""));
    }
    id = profile_intern(m->p, buf_str(&text));
    buf_release(&text);
    return id;
}

static uint32_t add_location(struct maker *m, string_id name, string_id file)
{
    struct profile *p = m->p;

    *vec_push(p->arena, &p->functions) = (struct function){
        .id = m->next_function_id++,
        .name = name,
        .filename = file,
    };
    *vec_push(p->arena, &p->lines) = (struct line){
        .function = (uint32_t)(p->functions.n - 1),
    };
    *vec_push(p->arena, &p->locations) = (struct location){
        .id = m->next_location_id++,
        .mapping = NO_INDEX,
        .line_start = (uint32_t)(p->lines.n - 1),
        .n_lines = 1,
    };
    return (uint32_t)(p->locations.n - 1);
}

static uint32_t location_for_text(struct maker *m, string_id name,
                                  string_id file)
{
    struct profile *p = m->p;
    struct map_cursor c =
        map_find(&m->by_text, map_mix(map_mix(0, name), file));

    while (map_next(&m->by_text, &c)) {
        const struct location *l = &p->locations.v[c.record];
        const struct function *f =
            &p->functions.v[p->lines.v[l->line_start].function];

        if (f->name == name && f->filename == file)
            return c.record;
    }
    map_add(&m->by_text, &c, (uint32_t)p->locations.n);
    return add_location(m, name, file);
}

static uint32_t location_for_labels(struct maker *m, string_id key,
                                    const struct labels_of_key *labels)
{
    struct map_cursor c = map_find(
        &m->by_labels, hash_labels(m->p, key, labels, m->by_labels.seed));
    uint32_t location;

    while (map_next(&m->by_labels, &c)) {
        const struct seen *seen = &m->seen.v[c.record];

        if (seen->key == key && same_labels(m->p, &seen->labels, labels))
            return seen->location;
    }
    location = location_for_text(m, print_labels(m, labels), key);
    map_add(&m->by_labels, &c, (uint32_t)m->seen.n);
    *vec_push(m->scratch, &m->seen) = (struct seen){key, *labels, location};
    return location;
}

/* Writes the frames for the keys, last key first; true if one has values. */
static bool add_frames(struct maker *m, size_t sample,
                       const struct key_list *keys, uint32_t *to)
{
    bool any = false;

    for (size_t i = keys->n; i-- > 0;) {
        string_id key = keys->v[i];
        struct labels_of_key labels = labels_of(m->p, sample, key);

        any |= labels.n_strings + labels.n_numbers > 0;
        *to++ = location_for_labels(m, key, &labels);
    }
    return any;
}

static void split_keys(struct maker *m, struct str list, struct key_list *out)
{
    struct str key;

    while (str_split(&list, ',', &key))
        if (key.n)
            *vec_push(m->scratch, out) = profile_intern(m->p, key);
}

static void maker_init(struct maker *m, struct profile *p, struct str unit)
{
    *m = (struct maker){.p = p, .scratch = arena_new(), .unit = unit};
    map_init(&m->by_labels, m->scratch, 0);
    map_init(&m->by_text, m->scratch, 0);
    for (size_t i = 0; i < p->locations.n; i++)
        if (p->locations.v[i].id > m->next_location_id)
            m->next_location_id = p->locations.v[i].id;
    for (size_t i = 0; i < p->functions.n; i++)
        if (p->functions.v[i].id > m->next_function_id)
            m->next_function_id = p->functions.v[i].id;
    m->next_location_id++;
    m->next_function_id++;
}

/*
 * The frames of one sample, old and new, at stack[at..]; the end.  Roots are
 * made first: new locations are numbered in that order.
 */
static size_t add_to_sample(struct maker *m, size_t sample, size_t start,
                            size_t end, uint32_t *stack, size_t at,
                            struct tag_frames_matched *matched)
{
    size_t middle = at + m->leaves.n, root = middle + (end - start);

    matched->root |= add_frames(m, sample, &m->roots, stack + root);
    matched->leaf |= add_frames(m, sample, &m->leaves, stack + at);
    if (start < end)
        memcpy(stack + middle, m->p->stack + start,
               (end - start) * sizeof(*stack));
    return root + m->roots.n;
}

struct tag_frames_matched profile_add_tag_frames(struct profile *p,
                                                 struct str roots,
                                                 struct str leaves,
                                                 struct str unit)
{
    struct tag_frames_matched matched = {0};
    struct maker m;
    size_t at = 0, start = 0, n;
    uint32_t *stack;

    maker_init(&m, p, unit);
    split_keys(&m, roots, &m.roots);
    split_keys(&m, leaves, &m.leaves);
    n = p->loc_start[p->n_samples] + p->n_samples * (m.roots.n + m.leaves.n);
    stack = arena_new_array(p->arena, uint32_t, n);
    for (size_t i = 0; i < p->n_samples; i++) {
        size_t end = p->loc_start[i + 1];

        at = add_to_sample(&m, i, start, end, stack, at, &matched);
        p->loc_start[i + 1] = at;
        start = end;
    }
    p->stack = stack;
    arena_free(m.scratch);
    return matched;
}
