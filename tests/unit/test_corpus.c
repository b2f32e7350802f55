/*
 * What must hold for every profile there is, tried on those that lie beside
 * the repo.
 */
#include "test.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/vec.h"
#include "profile/encode.h"
#include "profile/compatible.h"
#include "profile/merge.h"
#include "profile/read.h"
#include "same_bytes.h"

static const char *corpus(void)
{
    static char path[4096];
    const char *given = getenv("PPROF_SHARED");
    const char *places[] = {given, "../shared", "../../shared"};

    for (size_t i = 0; i < 3; i++) {
        DIR *d;

        if (!places[i])
            continue;
        snprintf(path, sizeof(path), "%s/golden/inputs", places[i]);
        d = opendir(path);
        if (d) {
            closedir(d);
            return path;
        }
    }
    return NULL;
}

struct entry {
    char *name;
    struct profile *p;
};

struct entries {
    struct arena *arena;
    VEC(struct entry) list;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name,
                  ((const struct entry *)b)->name);
}

/* Every profile of the corpus; what cannot be read is left out. */
static struct entries read_all(const char *directory)
{
    struct entries all = {.arena = arena_new()};
    DIR *d = opendir(directory);
    struct dirent *e;

    while ((e = readdir(d))) {
        char *path = arena_printf(all.arena, "%s/%s", directory, e->d_name);
        struct error err;
        struct profile *p = profile_read_file(path, NULL, &err);

        if (p)
            *vec_push(all.arena, &all.list) =
                (struct entry){arena_cstr(all.arena, str_from(e->d_name)), p};
    }
    closedir(d);
    qsort(all.list.v, all.list.n, sizeof(*all.list.v), by_name);
    return all;
}

static void free_all(struct entries *all)
{
    for (size_t i = 0; i < all->list.n; i++)
        profile_free(all->list.v[i].p);
    arena_free(all->arena);
}

static struct profile *round_trip(const struct profile *p)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct error err;
    struct profile *again;

    profile_encode(p, &bytes);
    again = profile_read_memory(buf_str(&bytes), NULL, &err);
    if (!again)
        printf("# %s\n", err.text);
    buf_release(&bytes);
    return again;
}

/* The first trip may drop empty labels, which the format has no way to
 * write; after that nothing changes. */
TEST(writing_and_reading_again_changes_nothing)
{
    const char *directory = corpus();
    struct entries all;

    if (!directory) {
        TEST_SKIP("no ../shared");
        return;
    }
    all = read_all(directory);
    EXPECT(all.list.n > 50);
    for (size_t i = 0; i < all.list.n; i++) {
        struct profile *once = round_trip(all.list.v[i].p);
        struct profile *twice = once ? round_trip(once) : NULL;
        bool stable = twice && same_bytes(once, twice);

        if (!stable)
            printf("# %s\n", all.list.v[i].name);
        EXPECT(stable);
        profile_free(once);
        profile_free(twice);
    }
    free_all(&all);
}

/* Is merging it associative in google/pprof?  Not with values that may
 * cancel out on the way; a time of 0 is not either, so all get one. */
static bool is_usual(const struct profile *p)
{
    for (size_t i = 0; i < p->n_samples * p->types.n; i++)
        if (p->values[i] < 0)
            return false;
    return p->types.n > 0;
}

static struct profile *merge(struct profile *a, struct profile *b,
                             struct profile *c)
{
    struct profile *list[] = {a, b, c};
    struct error err;

    return profile_merge(list, c ? 3 : 2, &err);
}

static bool is_associative(struct profile *a, struct profile *b,
                           struct profile *c)
{
    struct profile *abc = merge(a, b, c);
    struct profile *ab = merge(a, b, NULL), *bc = merge(b, c, NULL);
    struct profile *ab_c = merge(ab, c, NULL), *a_bc = merge(a, bc, NULL);
    bool same = same_bytes(abc, ab_c) && same_bytes(abc, a_bc);

    profile_free(abc);
    profile_free(ab);
    profile_free(bc);
    profile_free(ab_c);
    profile_free(a_bc);
    return same;
}

/* Copies of three profiles made compatible; false if they cannot be. */
static bool prepare(struct profile *const from[3], struct profile *to[3])
{
    struct error err;

    for (int i = 0; i < 3; i++) {
        to[i] = profile_copy(from[i]);
        to[i]->time_ns = 1;
    }
    if (profile_make_compatible(to, 3, &err))
        return true;
    for (int i = 0; i < 3; i++)
        profile_free(to[i]);
    return false;
}

TEST(merging_the_corpus_is_associative)
{
    const char *directory = corpus();
    struct entries all;
    size_t tried = 0;

    if (!directory) {
        TEST_SKIP("no ../shared");
        return;
    }
    all = read_all(directory);
    for (size_t i = 0; i + 2 < all.list.n; i++) {
        struct entry *e = &all.list.v[i];
        struct profile *from[3], *to[3];

        /* Each with its neighbours in every order, and with itself. */
        for (int order = 0; order < 4; order++) {
            for (int k = 0; k < 3; k++)
                from[k] = order < 3 ? e[(k + order) % 3].p : e[k / 2].p;
            if (!is_usual(from[0]) || !is_usual(from[1]) ||
                !is_usual(from[2]) || !prepare(from, to))
                continue;
            tried++;
            bool associative = is_associative(to[0], to[1], to[2]);

            if (!associative)
                printf("# %s, order %d\n", e->name, order);
            EXPECT(associative);
            for (int k = 0; k < 3; k++)
                profile_free(to[k]);
        }
    }
    printf("# %zu triples\n", tried);
    EXPECT(tried > 20);
    free_all(&all);
}

TEST_MAIN
