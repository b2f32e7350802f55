#include "test.h"

#include <stdlib.h>

#include "profile/encode.h"
#include "profile/fingerprint.h"
#include "profile/merge.h"
#include "profile/read.h"
#include "random_profile.h"

/* --- fixed values, computed by a separate implementation in Python -------- */

TEST(texts_have_the_same_fingerprints_for_ever)
{
    EXPECT(fingerprint_text(STR("")) == 0x910a2dec89025cc1u);
    EXPECT(fingerprint_text(STR("main")) == 0x4afcfcad85498ea7u);
    EXPECT(fingerprint_text(STR("runtime.mallocgc")) == 0x176cab48a0b61b8bu);
    EXPECT(fingerprint_text(STR("größe")) == 0x1365d77b05bd3eeau);
}

static string_id word(struct profile *p, const char *text)
{
    return profile_intern(p, str_from(text));
}

static void add_location(struct profile *p, struct location l,
                         const struct line *lines, uint32_t n)
{
    l.id = p->locations.n + 1;
    l.line_start = (uint32_t)p->lines.n;
    l.n_lines = n;
    for (uint32_t i = 0; i < n; i++)
        *vec_push(p->arena, &p->lines) = lines[i];
    *vec_push(p->arena, &p->locations) = l;
}

/* One of each kind, with its program mapped at `base`. */
static struct profile *known_profile(uint64_t base)
{
    struct profile *p = profile_new();
    struct sample_builder b;
    int64_t value = 1;

    *vec_push(p->arena, &p->types) =
        (struct value_type){word(p, "samples"), word(p, "count")};
    *vec_push(p->arena, &p->mappings) =
        (struct mapping){.start = base,
                         .limit = base + 0x1000,
                         .offset = 0x1000,
                         .file = word(p, "/bin/app"),
                         .build_id = word(p, "abc")};
    *vec_push(p->arena, &p->mappings) =
        (struct mapping){.start = 2 * base,
                         .limit = 2 * base + 0x1000,
                         .file = word(p, "/lib/x.so")};
    *vec_push(p->arena, &p->functions) =
        (struct function){.name = word(p, "main"),
                          .filename = word(p, "main.c"),
                          .start_line = 3};
    *vec_push(p->arena, &p->functions) =
        (struct function){.name = word(p, "read"),
                          .system_name = word(p, "_read"),
                          .filename = word(p, "io.c"),
                          .start_line = -1};
    add_location(p, (struct location){.address = base + 0x10, .mapping = 0},
                 (struct line[]){{1, 7, 1}, {0, 30, 0}}, 2);
    add_location(p,
                 (struct location){.address = 2 * base + 0x20,
                                   .mapping = 1,
                                   .is_folded = true},
                 NULL, 0);
    add_location(p, (struct location){.address = 0x99, .mapping = NO_INDEX},
                 (struct line[]){{0, 1, 0}}, 1);
    add_location(p, (struct location){.address = 0, .mapping = 0},
                 (struct line[]){{0, 1, 0}}, 1);
    sample_builder_init(&b, p);
    for (uint32_t i = 0; i < 3; i++)
        sample_builder_frame(&b, i); /* leaf first */
    sample_builder_label(&b, (struct label){.key = word(p, "user"),
                                            .str = word(p, "bob"),
                                            .kind = LABEL_STRING});
    sample_builder_label(
        &b,
        (struct label){.key = word(p, "n"), .num = -5, .kind = LABEL_NUMBER});
    sample_builder_label(&b, (struct label){.key = word(p, "size"),
                                            .str = word(p, "kb"),
                                            .num = 4,
                                            .kind = LABEL_MEASURE});
    sample_builder_end(&b, &value);
    sample_builder_end(&b, &value);
    return p;
}

/* Wherever the program was loaded. */
TEST(contents_have_the_same_fingerprints_for_ever)
{
    static const uint64_t bases[] = {0x555500000000, 0x7f1234560000, 0x400000};

    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
        struct profile *p = known_profile(bases[i]);
        struct fingerprints f;

        fingerprints_make(&f, p->arena, p);
        EXPECT(f.functions[0] == 0x801439bc629a7876u);
        EXPECT(f.functions[1] == 0x77d09807bbb1cd29u);
        EXPECT(f.locations[0] == 0x236c5b45e07da01bu);
        EXPECT(f.locations[1] == 0x6eabf1681303093au);
        EXPECT(f.locations[2] == 0x79d681599e40ae79u);
        EXPECT(f.locations[3] == 0x69ab93e7d6171080u);
        EXPECT(fingerprint_stack(&f, 0) == 0xdb375ddf11f059d5u);
        EXPECT(fingerprint_labels(&f, 0) == 0x411fba66663dee0cu);
        EXPECT(fingerprint_stack(&f, 1) == FINGERPRINT_EMPTY_STACK);
        profile_free(p);
    }
}

TEST(a_call_tree_has_the_fingerprints_of_its_stacks)
{
    struct profile *p = known_profile(0x400000);
    uint64_t node = FINGERPRINT_EMPTY_STACK;
    struct fingerprints f;

    fingerprints_make(&f, p->arena, p);
    for (uint32_t i = 3; i-- > 0;)
        node = fingerprint_call(node, f.locations[i]);
    EXPECT(node == fingerprint_stack(&f, 0));
    profile_free(p);
}

/* --- properties ----------------------------------------------------------- */

/* Stack, labels and values of a sample, in any order of samples. */
struct row {
    uint64_t stack, labels;
    int64_t values[2];
};

static int by_row(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct row));
}

static struct row *rows_of(const struct profile *p, struct arena *a)
{
    struct row *rows = arena_new_array(a, struct row, p->n_samples);
    struct fingerprints f;

    fingerprints_make(&f, a, p);
    for (size_t i = 0; i < p->n_samples; i++)
        rows[i] = (struct row){fingerprint_stack(&f, i),
                               fingerprint_labels(&f, i),
                               {p->values[2 * i], p->values[2 * i + 1]}};
    if (p->n_samples)
        qsort(rows, p->n_samples, sizeof(*rows), by_row);
    return rows;
}

static void expect_same_rows(const struct profile *a, const struct profile *b)
{
    struct arena *arena = arena_new();
    struct row *x = rows_of(a, arena), *y = rows_of(b, arena);

    EXPECT(a->n_samples == b->n_samples &&
           memcmp(x, y, a->n_samples * sizeof(*x)) == 0);
    arena_free(arena);
}

TEST(writing_and_reading_changes_no_fingerprint)
{
    uint64_t state = random_seed();

    for (int i = 0; i < 200; i++) {
        struct profile *p = random_profile(&state, 1), *again;
        struct buf bytes = BUF_INIT(1 << 20);
        struct error err;

        profile_encode(p, &bytes);
        again = profile_read_memory(buf_str(&bytes), NULL, &err);
        EXPECT(again);
        if (again)
            expect_same_rows(p, again);
        profile_free(again);
        profile_free(p);
        buf_release(&bytes);
    }
}

/* A merge joins mappings that nobody can name if they have the same size, and
 * moves addresses: here all have a name. */
static struct profile *random_named(uint64_t *state)
{
    struct profile *p = random_profile(state, 1);

    for (size_t i = 0; i < p->mappings.n; i++)
        if (!p->mappings.v[i].build_id)
            p->mappings.v[i].file = word(p, "/bin/named");
    return p;
}

/* Merging renumbers everything and joins what is equal.  Merged in either
 * order, the sums have the same fingerprints. */
TEST(the_order_of_a_merge_changes_no_fingerprint)
{
    uint64_t state = random_seed();

    for (int i = 0; i < 200; i++) {
        struct profile *a = random_named(&state), *b = random_named(&state);
        struct profile *const ab[] = {a, b}, *const ba[] = {b, a};
        struct error err;
        struct profile *x = profile_merge(ab, 2, &err);
        struct profile *y = profile_merge(ba, 2, &err);

        EXPECT(x && y);
        if (x && y)
            expect_same_rows(x, y);
        profile_free(x);
        profile_free(y);
        profile_free(a);
        profile_free(b);
    }
}

/* Moves every mapping, and what is in it, as another process would have it.
 * Mappings that nobody can name stay. */
static void move(struct profile *p, uint64_t by)
{
    for (size_t i = 0; i < p->locations.n; i++) {
        struct location *l = &p->locations.v[i];
        const struct mapping *m =
            l->mapping == NO_INDEX ? NULL : &p->mappings.v[l->mapping];

        if (m && (m->file || m->build_id) && l->address)
            l->address += by * (l->mapping + 1);
    }
    for (size_t i = 0; i < p->mappings.n; i++)
        if (p->mappings.v[i].file || p->mappings.v[i].build_id) {
            p->mappings.v[i].start += by * (i + 1);
            p->mappings.v[i].limit += by * (i + 1);
        }
}

TEST(another_load_address_changes_no_fingerprint)
{
    uint64_t state = random_seed();

    for (int i = 0; i < 200; i++) {
        struct profile *p = random_profile(&state, 1);
        struct profile *moved = profile_copy(p);

        move(moved, 0x1000 * (1 + random_below(&state, 1000)));
        expect_same_rows(p, moved);
        profile_free(moved);
        profile_free(p);
    }
}

/* One change at a time; all results must differ. */
static void change(struct profile *p, int which)
{
    struct location *l = &p->locations.v[0];
    struct function *f = &p->functions.v[1];

    switch (which) {
    case 0:
        break;
    case 1:
        l->address++;
        break;
    case 2:
        l->is_folded = !l->is_folded;
        break;
    case 3:
        l->mapping = 1;
        break;
    case 4:
        l->mapping = NO_INDEX;
        break;
    case 5:
        l->n_lines--;
        break;
    case 6:
        p->lines.v[0].line++;
        break;
    case 7:
        p->lines.v[0].column++;
        break;
    case 8:
        p->lines.v[0].function = 0;
        break;
    case 9:
        f->name = word(p, "reads");
        break;
    case 10:
        f->system_name = f->name;
        break;
    case 11:
        f->filename = 0;
        break;
    case 12:
        f->start_line = 1;
        break;
    case 13:
        p->mappings.v[0].build_id = word(p, "abd");
        break;
    case 14:
        p->mappings.v[0].build_id = 0; /* the file's name instead */
        break;
    case 15:
        p->mappings.v[0].offset = 0;
        break;
    case 16: /* two frames change places */
        p->stack[0] = 1;
        p->stack[1] = 0;
        break;
    case 17:
        p->stack[2] = 0;
        break;
    case 18:
        p->loc_start[1]--;
        p->loc_start[2]--;
        break;
    }
}

static uint64_t changed_stack(int which)
{
    struct profile *p = known_profile(0x400000);
    struct fingerprints f;
    uint64_t h;

    change(p, which);
    fingerprints_make(&f, p->arena, p);
    h = fingerprint_stack(&f, 0);
    profile_free(p);
    return h;
}

TEST(every_part_of_a_stack_counts)
{
    uint64_t seen[19];

    for (int i = 0; i < 19; i++) {
        seen[i] = changed_stack(i);
        for (int k = 0; k < i; k++)
            if (seen[i] == seen[k]) {
                printf("# changes %d and %d look the same\n", k, i);
                EXPECT(!"different");
            }
    }
}

TEST(every_part_of_a_label_counts)
{
    uint64_t seen[6];

    for (int i = 0; i < 6; i++) {
        struct profile *p = known_profile(0x400000);
        struct label *l = &p->labels[0];
        struct fingerprints f;

        if (i == 1)
            l->key = word(p, "users");
        else if (i == 2)
            l->str = word(p, "eve");
        else if (i == 3)
            p->labels[1].num = 5;
        else if (i == 4)
            p->labels[2].str = 0, p->labels[2].kind = LABEL_NUMBER;
        else if (i == 5)
            p->label_start[1]--, p->label_start[2]--;
        fingerprints_make(&f, p->arena, p);
        seen[i] = fingerprint_labels(&f, 0);
        for (int k = 0; k < i; k++)
            EXPECT(seen[i] != seen[k]);
        profile_free(p);
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Names that differ little, as names do.  Of 300,000 the chance of one
 * collision is 1 in 400 million. */
TEST(similar_texts_do_not_collide)
{
    enum { N = 300000 };
    uint64_t *seen = malloc(N * sizeof(*seen));
    char text[64];

    for (int i = 0; i < N; i++) {
        int n = i % 3 == 0 ? snprintf(text, sizeof(text), "f%d", i)
                : i % 3 == 1
                    ? snprintf(text, sizeof(text), "pkg.(*T%d).method", i)
                    : snprintf(text, sizeof(text), "%*s%d", i % 17, "", i);

        seen[i] = fingerprint_text(str_of(text, (size_t)n));
    }
    qsort(seen, N, sizeof(*seen), by_value);
    for (int i = 1; i < N; i++)
        if (seen[i] == seen[i - 1]) {
            EXPECT(!"no two are the same");
            break;
        }
    EXPECT(fingerprint_text(str_of("a", 1)) !=
           fingerprint_text(str_of("a\0", 2)));
    free(seen);
}

TEST_MAIN
