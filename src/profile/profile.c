/*
 * The model's own operations: interning texts, adding samples, sorting labels,
 * copying.  The arrays of samples grow through the builder alone.
 */
#include "profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct profile *profile_new(void)
{
    struct arena *a = arena_new();
    struct profile *p = arena_alloc(a, sizeof(*p));

    p->arena = a;
    map_init(&p->string_index, a, 0);
    p->stack = arena_new_array(a, uint32_t, 0);
    p->loc_start = arena_new_array(a, size_t, 1);
    p->values = arena_new_array(a, int64_t, 0);
    p->labels = arena_new_array(a, struct label, 0);
    p->label_start = arena_new_array(a, size_t, 1);
    profile_intern(p, STR(""));
    return p;
}

void profile_free(struct profile *p)
{
    if (p)
        arena_free(p->arena);
}

static bool find_string(const struct profile *p, struct str s,
                        struct map_cursor *c)
{
    *c = map_find(&p->string_index, str_hash_seeded(s, p->string_index.seed));
    while (map_next(&p->string_index, c))
        if (str_eq(p->strings.v[c->record], s))
            return true;
    return false;
}

/* A copy with a NUL behind it. */
static struct str keep_text(struct profile *p, struct str s)
{
    char *to = p->text_room;

    if (s.n >= p->text_left)
        return arena_str(p->arena, s);
    if (s.n)
        memcpy(to, s.s, s.n);
    to[s.n] = '\0';
    p->text_room += s.n + 1;
    p->text_left -= s.n + 1;
    return str_of(to, s.n);
}

string_id profile_intern(struct profile *p, struct str s)
{
    struct map_cursor c;

    if (find_string(p, s, &c))
        return c.record;
    map_add(&p->string_index, &c, (uint32_t)p->strings.n);
    *vec_push(p->arena, &p->strings) = keep_text(p, s);
    return (string_id)(p->strings.n - 1);
}

void profile_expect_strings(struct profile *p, size_t n, size_t bytes)
{
    p->text_left = bytes + n; /* and their NULs */
    p->text_room = arena_alloc_raw(p->arena, p->text_left);
    vec_reserve(p->arena, &p->strings, n);
    map_reserve(&p->string_index, n);
}

string_id profile_find_string(const struct profile *p, struct str s)
{
    struct map_cursor c;

    return find_string(p, s, &c) ? c.record : NO_INDEX;
}

void sample_builder_init(struct sample_builder *b, struct profile *p)
{
    size_t n = p->n_samples;

    /* The arrays of a finished profile are exactly as long as needed. */
    *b = (struct sample_builder){
        .profile = p,
        .stack_n = p->loc_start[n],
        .stack_cap = p->loc_start[n],
        .labels_n = p->label_start[n],
        .labels_cap = p->label_start[n],
        .samples_cap = n,
    };
}

/* An array of the profile with room for one element more. */
static void *with_room(struct arena *a, void *array, size_t n, size_t *cap,
                       size_t size)
{
    size_t want = *cap + *cap / 2 + 64;

    if (n < *cap)
        return array;
    array = arena_grow(a, array, *cap * size, want * size);
    *cap = want;
    return array;
}

void sample_builder_frame(struct sample_builder *b, uint32_t location)
{
    struct profile *p = b->profile;

    p->stack = with_room(p->arena, p->stack, b->stack_n, &b->stack_cap,
                         sizeof(*p->stack));
    p->stack[b->stack_n++] = location;
}

void sample_builder_label(struct sample_builder *b, struct label label)
{
    struct profile *p = b->profile;

    p->labels = with_room(p->arena, p->labels, b->labels_n, &b->labels_cap,
                          sizeof(*p->labels));
    p->labels[b->labels_n++] = label;
}

static void make_room_for_sample(struct sample_builder *b)
{
    struct profile *p = b->profile;
    struct arena *a = p->arena;
    size_t cap = b->samples_cap, want = cap + cap / 2 + 64;
    size_t row = p->types.n * sizeof(*p->values);

    if (p->n_samples < cap)
        return;
    p->values = arena_grow(a, p->values, cap * row, want * row);
    p->loc_start = arena_grow(a, p->loc_start, (cap + 1) * sizeof(size_t),
                              (want + 1) * sizeof(size_t));
    p->label_start = arena_grow(a, p->label_start, (cap + 1) * sizeof(size_t),
                                (want + 1) * sizeof(size_t));
    b->samples_cap = want;
}

void sample_builder_end(struct sample_builder *b, const int64_t *values)
{
    struct profile *p = b->profile;
    size_t types = p->types.n;

    assert(b->stack_n >= p->loc_start[p->n_samples]);
    assert(b->labels_n >= p->label_start[p->n_samples]);
    make_room_for_sample(b);
    if (types)
        memcpy(p->values + p->n_samples * types, values,
               types * sizeof(*values));
    p->n_samples++;
    p->loc_start[p->n_samples] = b->stack_n;
    p->label_start[p->n_samples] = b->labels_n;
}

static int compare_labels(const struct profile *p, const struct label *x,
                          const struct label *y)
{
    bool x_num = x->kind != LABEL_STRING, y_num = y->kind != LABEL_STRING;

    if (x_num != y_num)
        return x_num - y_num;
    if (x->key == y->key)
        return 0;
    return str_cmp(profile_str(p, x->key), profile_str(p, y->key));
}

enum { FEW_LABELS = 32 };

static void insertion_sort(const struct profile *p, struct label *labels,
                           size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct label moving = labels[i];
        size_t at = i;

        while (at > 0 && compare_labels(p, &labels[at - 1], &moving) > 0) {
            labels[at] = labels[at - 1];
            at--;
        }
        labels[at] = moving;
    }
}

/* `half` has room for half of the labels. */
static void merge_sort(const struct profile *p, struct label *labels, size_t n,
                       struct label *half)
{
    size_t left = n / 2, i = 0, k = left, to = 0;

    if (n <= FEW_LABELS) {
        insertion_sort(p, labels, n);
        return;
    }
    merge_sort(p, labels, left, half);
    merge_sort(p, labels + left, n - left, half);
    memcpy(half, labels, left * sizeof(*half));
    while (i < left)
        labels[to++] = k < n && compare_labels(p, &half[i], &labels[k]) > 0
                           ? labels[k++]
                           : half[i++];
}

/* Samples have a handful of labels, mostly sorted: insertion is best for
 * them.  Both ways are stable, and no sample takes quadratic time. */
static void sort_by_key(const struct profile *p, struct label *labels, size_t n)
{
    struct arena *a;

    if (n <= FEW_LABELS) {
        insertion_sort(p, labels, n);
        return;
    }
    a = arena_new();
    merge_sort(p, labels, n, arena_new_array(a, struct label, n / 2 + 1));
    arena_free(a);
}

void profile_sort_labels(const struct profile *p, struct label *labels,
                         size_t n)
{
    sort_by_key(p, labels, n);
    for (size_t i = 0; i < n;) {
        bool measured = false;
        size_t end = i;

        for (; end < n && compare_labels(p, &labels[i], &labels[end]) == 0;
             end++)
            measured |= labels[end].kind == LABEL_MEASURE;
        for (; i < end; i++)
            if (measured)
                labels[i].kind = LABEL_MEASURE;
    }
}

static void *copy_array(struct arena *a, const void *from, size_t n,
                        size_t size)
{
    void *to = arena_alloc_array(a, n, size);

    if (n)
        memcpy(to, from, n * size);
    return to;
}

#define COPY_ARRAY(a, from, n) copy_array((a), (from), (n), sizeof(*(from)))
#define COPY_VEC(a, to, from)                                                  \
    ((to)->v = COPY_ARRAY((a), (from)->v, (from)->n), (to)->cap = (from)->n)

struct profile *profile_copy(const struct profile *p)
{
    struct arena *a = arena_new();
    struct profile *q = copy_array(a, p, 1, sizeof(*p));
    size_t n = p->n_samples;

    q->arena = a;
    COPY_VEC(a, &q->strings, &p->strings);
    for (size_t i = 0; i < q->strings.n; i++)
        q->strings.v[i] = arena_str(a, p->strings.v[i]);
    q->text_left = 0;
    q->string_index.arena = a;
    q->string_index.slots =
        COPY_ARRAY(a, p->string_index.slots, p->string_index.mask + 1);
    COPY_VEC(a, &q->types, &p->types);
    q->stack = COPY_ARRAY(a, p->stack, p->loc_start[n]);
    q->loc_start = COPY_ARRAY(a, p->loc_start, n + 1);
    q->values = COPY_ARRAY(a, p->values, n * p->types.n);
    q->labels = COPY_ARRAY(a, p->labels, p->label_start[n]);
    q->label_start = COPY_ARRAY(a, p->label_start, n + 1);
    COPY_VEC(a, &q->mappings, &p->mappings);
    COPY_VEC(a, &q->locations, &p->locations);
    COPY_VEC(a, &q->lines, &p->lines);
    COPY_VEC(a, &q->functions, &p->functions);
    COPY_VEC(a, &q->comments, &p->comments);
    return q;
}
