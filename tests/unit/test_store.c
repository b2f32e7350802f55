#include "test.h"

#include "random_profile.h"
#include "sketch.h"
#include "store_support.h"

static struct profile *small(void)
{
    return sketch(
        "types samples/count cpu/nanoseconds\n"
        "period cpu/nanoseconds 10\n"
        "time 5\n"
        "duration 7\n"
        "default cpu\n"
        "comment words\n"
        "drop malloc\n"
        "map /bin/app 1000-5000 build\n"
        "/bin/app!main;/bin/app!read<copy@io.c:7 2 20 key=value size:4kb n:3\n"
        "/bin/app!main;/bin/app!write 1 10\n"
        "- 3 30\n");
}

TEST(what_goes_in_comes_out)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct profile *p = small();
    struct store_id id;

    EXPECT(put_profile(s, p, "api", "cpu", 0, &id));
    EXPECT(stored_equals(s, &id, p));
    store_close(s);
    s = store_reopen(NULL);
    EXPECT(stored_equals(s, &id, p));
    store_close(s);
    profile_free(p);
    store_clean();
}

TEST(sealed_profiles_come_out_too)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct profile *p = small();
    struct store_id ids[5];
    struct error err;

    for (int i = 0; i < 5; i++) {
        p->time_ns = (int64_t)1700000000 * 1000000000 + i;
        EXPECT(put_profile(s, p, "api", "cpu", 0, &ids[i]));
    }
    EXPECT(sqlite_store_seal_all(s, &err));
    for (int i = 0; i < 5; i++) {
        p->time_ns = (int64_t)1700000000 * 1000000000 + i;
        EXPECT(stored_equals(s, &ids[i], p));
    }
    store_close(s);
    s = store_reopen(NULL);
    for (int i = 0; i < 5; i++) {
        p->time_ns = (int64_t)1700000000 * 1000000000 + i;
        EXPECT(stored_equals(s, &ids[i], p));
    }
    store_close(s);
    profile_free(p);
    store_clean();
}

/* What a merge of n profiles has: one comment of all, one of its own each. */
static size_t merged_comments(int n)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct store_query q = everything();
    struct profile *got = NULL;
    struct error err;
    size_t comments = 0;
    char text[128];

    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text),
                 "types samples/count\ncomment of all\ncomment number %d\n"
                 "main 1\n",
                 i);
        struct profile *p = sketch(text);

        EXPECT(put_profile(s, p, "api", "cpu", 0, NULL));
        profile_free(p);
    }
    EXPECT(store_merge(s, &q, STORE_AS_SENT, NULL, &got, NULL, &err) ==
           STORE_OK);
    if (got && got->comments.n) {
        comments = got->comments.n;
        EXPECT_STR(profile_str(got, got->comments.v[0]), "of all");
    }
    profile_free(got);
    store_close(s);
    store_clean();
    return comments;
}

TEST(a_merge_has_all_comments_or_those_of_all_profiles)
{
    EXPECT(merged_comments(1) == 2);
    EXPECT(merged_comments(15) == 16);
    EXPECT(merged_comments(16) == 1);
    EXPECT(merged_comments(200) == 1);
}

/* Services and segments come in an order of their own. */
TEST(a_merge_takes_texts_of_the_oldest_profile)
{
    static const struct {
        int seconds;
        const char *service, *text;
    } sent[] = {{30, "a", "thirty"}, {0, "b", "none"}, {20, "b", "twenty"},
                {40, "c", "forty"},  {10, "c", "ten"}, {10, "a", "then"},
                {50, "d", "fifty"}};
    static const char *const order[] = {"all",    "ten",   "then",  "twenty",
                                        "thirty", "forty", "fifty", "none"};
    struct store *s = (store_place(), store_reopen(NULL));
    struct store_query q = everything();
    struct profile *got = NULL;
    struct error err;

    for (size_t i = 0; i < sizeof(sent) / sizeof(*sent); i++) {
        struct profile *p = sketch("types samples/count\ncomment all\n"
                                   "main 1\n");
        uint32_t text = profile_intern(p, str_from(sent[i].text));

        p->time_ns = sent[i].seconds * INT64_C(1000000000);
        p->drop_frames = p->doc_url = text;
        *vec_push(p->arena, &p->comments) = text;
        EXPECT(put_profile(s, p, sent[i].service, "cpu", 1 + (int64_t)i, NULL));
        if (i == 2)
            EXPECT(sqlite_store_seal_all(s, &err));
        profile_free(p);
    }
    EXPECT(store_merge(s, &q, STORE_AS_SENT, NULL, &got, NULL, &err) ==
           STORE_OK);
    EXPECT_STR(profile_str(got, got->drop_frames), "ten");
    EXPECT_STR(profile_str(got, got->doc_url), "ten");
    EXPECT(got->time_ns == INT64_C(10000000000));
    EXPECT(got->comments.n == 8);
    for (size_t i = 0; i < got->comments.n && i < 8; i++)
        EXPECT_STR(profile_str(got, got->comments.v[i]), order[i]);
    profile_free(got);
    store_close(s);
    store_clean();
}

TEST(random_profiles_come_out_equal_and_sum_up)
{
    struct store *s = (store_place(), store_reopen(NULL));
    uint64_t state = random_seed();
    struct profile *all[40], *merged, *want;
    struct store_query q = everything();
    struct store_id ids[40];
    struct error err;

    for (int i = 0; i < 40; i++) {
        all[i] = random_profile(&state, -3);
        all[i]->time_ns = (int64_t)1700000000 * 1000000000 + i;
        EXPECT(put_profile(s, all[i], "random", "cpu", 0, &ids[i]));
        if (i % 13 == 12)
            EXPECT(sqlite_store_seal_all(s, &err));
    }
    for (int i = 0; i < 40; i++)
        EXPECT(stored_equals(s, &ids[i], all[i]));
    want = profile_merge(all, 40, &err);
    EXPECT(store_merge(s, &q, STORE_AS_SENT, NULL, &merged, NULL, &err) ==
           STORE_OK);
    EXPECT(sums_equal(merged, want));
    profile_free(merged);
    profile_free(want);
    for (int i = 0; i < 40; i++)
        profile_free(all[i]);
    store_close(s);
    store_clean();
}

/*
 * Everything beside the repo.
 */

struct pile {
    struct store *s;
    struct arena *a;
    VEC(char *) paths;
};

static void pile_up(struct pile *pile, const char *dir, int depth)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        char *path = arena_printf(pile->a, "%s/%s", dir, e->d_name);

        if (e->d_name[0] == '.')
            continue;
        if (e->d_type == DT_DIR && depth)
            pile_up(pile, path, depth - 1);
        else if (e->d_type == DT_REG)
            *vec_push(pile->a, &pile->paths) = path;
    }
    if (d)
        closedir(d);
}

struct kept {
    struct store_id id;
    struct profile *p;
};

/* Puts a file; what cannot be read must be refused in the same words. */
static bool put_file(struct store *s, const char *path, struct kept *out,
                     bool *stored)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct store_receipt receipt;
    struct error want, err;
    struct store_put put;
    enum store_status status;
    bool ok = true;

    file_read(path, &bytes, &err);
    put = put_of(buf_str(&bytes), "shared", "any");
    out->p = profile_read_memory(buf_str(&bytes), NULL, &want);
    status = put_wait(s, &put, &receipt, &err);
    *stored = status == STORE_OK;
    if (!out->p)
        ok = status == STORE_INVALID && strcmp(err.text, want.text) == 0;
    else
        ok = status == STORE_OK;
    if (!ok)
        printf("# %s: status %d, %s; want %s\n", path, status,
               status == STORE_OK ? "" : err.text, out->p ? "" : want.text);
    out->id = receipt.id;
    buf_release(&bytes);
    return ok;
}

TEST(every_profile_beside_the_repo_comes_back_equal)
{
    static const char *const places[] = {"golden/inputs", "endpoint-data",
                                         "fleet-data", "page-findings"};
    const char *shared = shared_place();
    struct pile pile = {.a = arena_new()};
    VEC(struct kept) kept = {0};
    struct error err;

    if (!shared) {
        TEST_SKIP("no ../shared");
        arena_free(pile.a);
        return;
    }
    for (int i = 0; i < 4; i++)
        pile_up(&pile, arena_printf(pile.a, "%s/%s", shared, places[i]), 3);
    pile.s = (store_place(), store_reopen(NULL));
    for (size_t i = 0; i < pile.paths.n; i++) {
        struct kept k;
        bool stored;

        EXPECT(put_file(pile.s, pile.paths.v[i], &k, &stored));
        if (k.p && stored)
            *vec_push(pile.a, &kept) = k;
        else
            profile_free(k.p);
    }
    for (int sealed = 0; sealed < 2; sealed++) {
        for (size_t i = 0; i < kept.n; i++)
            EXPECT(stored_equals(pile.s, &kept.v[i].id, kept.v[i].p));
        EXPECT(sqlite_store_seal_all(pile.s, &err));
    }
    printf("# %zu files, %zu profiles\n", pile.paths.n, kept.n);
    for (size_t i = 0; i < kept.n; i++)
        profile_free(kept.v[i].p);
    store_close(pile.s);
    store_clean();
    arena_free(pile.a);
}

TEST_MAIN
