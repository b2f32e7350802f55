/*
 * Senders that want too much, and several at once.
 */
#include "test.h"

#include "base/gzip.h"
#include "random_profile.h"
#include "sketch.h"
#include "store_support.h"

static struct buf encoded(const char *text)
{
    struct profile *p = sketch(text);
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);

    profile_encode(p, &bytes);
    profile_free(p);
    return bytes;
}

static void expect_put(struct store *s, const struct store_put *put,
                       enum store_status want, const char *words)
{
    struct error err = {.text = ""};
    enum store_status status = put_wait(s, put, NULL, &err);

    EXPECT(status == want);
    EXPECT_STR(str_from(err.text), words);
}

TEST(what_is_too_large_is_refused_with_the_limit)
{
    struct store_options o = (store_place(), store_test_options());
    struct buf bytes = encoded("types x/count\na;b;c 1\na;b 1\na 1\n");
    struct buf zeros = BUF_INIT(BUF_NO_LIMIT), bomb = BUF_INIT(BUF_NO_LIMIT);
    struct store_put put = put_of(buf_str(&bytes), "api", "cpu");
    struct store_label label = {STR("key"), STR("a long value")};
    struct error err;
    struct store *s;

    o.body_bytes = 1 << 20;
    o.inflated_bytes = 1 << 20;
    o.max_samples = 3;
    o.max_depth = 3;
    o.max_nodes = 6;
    o.max_labels = 1;
    o.max_label_bytes = 15;
    s = store_reopen(&o);
    expect_put(s, &put, STORE_OK, "");
    buf_release(&bytes);
    bytes = encoded("types x/count\na 1\na 1\na 1\na 1\n");
    put.bytes = buf_str(&bytes);
    expect_put(s, &put, STORE_TOO_LARGE, "4 samples, the limit is 3");
    buf_release(&bytes);
    bytes = encoded("types x/count\na;b;c;d 1\n");
    put.bytes = buf_str(&bytes);
    expect_put(s, &put, STORE_TOO_LARGE,
               "sample 0 has 4 frames, the limit is 3");
    put.labels = &label;
    put.n_labels = 1;
    expect_put(s, &put, STORE_TOO_LARGE,
               "1 labels, 21 bytes with service and type; the limits are 1 "
               "labels and 15 bytes");
    put.n_labels = 0;
    buf_add_pad(&zeros, 0, 2 << 20);
    put.bytes = buf_str(&zeros);
    expect_put(s, &put, STORE_TOO_LARGE,
               "profile of 2097152 bytes, the limit is 1048576");
    EXPECT(gzip_deflate(buf_str(&zeros), &bomb, &err));
    put.bytes = buf_str(&bomb);
    expect_put(s, &put, STORE_TOO_LARGE,
               "decompressing profile: more than the limit of 1048576 bytes "
               "after inflating");
    put.bytes = STR("no profile");
    expect_put(s, &put, STORE_INVALID,
               "parsing profile: unrecognized profile format");
    put.bytes = STR("");
    expect_put(s, &put, STORE_INVALID, "parsing profile: empty input file");
    put.service = STR("");
    expect_put(s, &put, STORE_INVALID, "missing service");
    store_close(s);
    buf_release(&bytes);
    buf_release(&zeros);
    buf_release(&bomb);
    store_clean();
}

TEST(an_empty_profile_is_refused_unless_allowed)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct buf bytes = encoded("types x/count\n");
    struct store_put put = put_of(buf_str(&bytes), "api", "cpu");

    expect_put(s, &put, STORE_OK, "");
    put.allow_empty = false;
    expect_put(s, &put, STORE_INVALID, "profile is empty: no samples");
    store_close(s);
    buf_release(&bytes);
    store_clean();
}

TEST(traces_are_kept_as_they_are)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct store_put put = put_of(STR("any \0 bytes"), "api", "trace");
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct store_receipt receipt, again;
    struct profile *p;
    struct error err;

    put.is_opaque = true;
    EXPECT(put_wait(s, &put, &receipt, &err) == STORE_OK);
    EXPECT(store_get(s, &receipt.id, &p, &err) == STORE_INVALID);
    for (int round = 0; round < 3; round++) {
        buf_clear(&out);
        EXPECT(store_get_bytes(s, &receipt.id, &out, &err) == STORE_OK);
        EXPECT(str_eq(buf_str(&out), put.bytes));
        if (round == 0)
            EXPECT(sqlite_store_seal_all(s, &err));
        if (round == 1) {
            store_close(s);
            s = store_reopen(NULL);
        }
    }
    put.id = &receipt.id; /* the same once more */
    EXPECT(put_wait(s, &put, &again, &err) == STORE_OK && again.was_there);
    store_close(s);
    buf_release(&out);
    store_clean();
}

TEST(ids_match_exactly)
{
    struct store_id id = store_id_make((int64_t)1700000000 * 1000000000), other;
    char text[STORE_ID_TEXT + 1];

    store_id_format(&id, text);
    EXPECT(strlen(text) == STORE_ID_TEXT);
    EXPECT(store_id_parse(str_from(text), &other) &&
           memcmp(&id, &other, sizeof(id)) == 0);
    EXPECT(!store_id_parse(str_first(str_from(text), 19), &other));
    text[0] = 'w';
    EXPECT(!store_id_parse(str_from(text), &other));
    store_id_format(&id, text);
    text[19]++; /* a bit that no id has */
    EXPECT(!store_id_parse(str_from(text), &other));
    EXPECT(store_id_parse(STR("dbt3k1r8di1989r64qgg"), &other));
}

TEST(labels_over_the_bound_are_dropped_and_counted)
{
    struct store_options o = (store_place(), store_test_options());
    uint64_t dropped = 0;
    struct store_query q = everything();
    struct profile *got;
    struct error err;
    struct store *s;

    o.max_label_values = 10;
    s = store_reopen(&o);
    for (int i = 0; i < 50; i++) {
        struct store_receipt receipt = {0};
        struct store_put put;
        struct buf bytes;
        char text[100];

        snprintf(text, sizeof(text),
                 "types x/count\nmain 1 request=id%d kind=x\n", i);
        bytes = encoded(text);
        put = put_of(buf_str(&bytes), "api", "cpu");
        EXPECT(put_wait(s, &put, &receipt, &err) == STORE_OK);
        dropped += receipt.dropped_labels;
        buf_release(&bytes);
    }
    EXPECT(dropped == 40);
    EXPECT(store_merge(s, &q, STORE_AS_SENT, NULL, &got, NULL, &err) ==
           STORE_OK);
    EXPECT(got->n_samples == 11); /* and no sample was */
    profile_free(got);
    store_close(s);
    store_clean();
}

TEST(a_full_queue_refuses_at_once)
{
    struct store_options o = (store_place(), store_test_options());
    struct put_result r[100];
    struct buf bytes = encoded("types x/count\nmain 1\n");
    struct store_put put = put_of(buf_str(&bytes), "api", "cpu");
    int queued = 0, busy = 0;
    struct error err;
    struct store *s;

    o.queue_profiles = 10;
    o.commit_wait_ns = 500 * 1000000;
    s = store_reopen(&o);
    for (int i = 0; i < 100; i++) {
        enum store_status status;

        r[queued] = (struct put_result){.lock = PTHREAD_MUTEX_INITIALIZER,
                                        .changed = PTHREAD_COND_INITIALIZER};
        status = store_put(s, &put, put_is_done, &r[queued], &err);
        queued += status == STORE_OK;
        busy += status == STORE_BUSY;
    }
    EXPECT(queued >= 10 && busy > 0 && queued + busy == 100);
    EXPECT_STR(str_from(err.text),
               "too many profiles wait to be written; try again");
    store_close(s); /* writes what is queued */
    for (int i = 0; i < queued; i++)
        EXPECT(r[i].done && r[i].status == STORE_OK);
    buf_release(&bytes);
    store_clean();
}

/*
 * Processes of one position-independent program share their places.
 */
TEST(addresses_that_move_share_one_dictionary)
{
    struct store *s = (store_place(), store_reopen(NULL));
    struct store_id ids[50];
    struct store_stats stats;

    for (int i = 0; i < 50; i++) {
        char text[400];
        unsigned long base = 0x10000ul * (unsigned)(i + 1);
        struct profile *p;

        snprintf(text, sizeof(text),
                 "types x/count\nmap /bin/app %lx-%lx build\n"
                 "/bin/app!main#%lx;/bin/app!work#%lx 1\n",
                 base, base + 0x5000, base + 0x100, base + 0x200);
        p = sketch(text);
        EXPECT(put_profile(s, p, "api", "cpu", 0, &ids[i]));
        EXPECT(stored_equals(s, &ids[i], p));
        profile_free(p);
    }
    {
        struct store_query q = everything();
        struct profile *got = NULL;
        struct error err;

        EXPECT(store_merge(s, &q, STORE_AS_SENT, NULL, &got, NULL, &err) ==
               STORE_OK);
        EXPECT(got->n_samples == 1 && got->values[0] == 50);
        EXPECT(got->mappings.n == 1 && got->locations.n == 2);
        profile_free(got);
    }
    store_get_stats(s, &stats);
    EXPECT(stats.memory_bytes < 64 * 1024);
    store_close(s);
    store_clean();
}

/*
 * Threads.
 */
enum { WRITERS = 4, PUTS = 60 };

struct writer {
    struct store *s;
    int number;
    struct store_id ids[PUTS];
};

static struct profile *writers_profile(int writer, int i)
{
    char text[200];

    snprintf(text, sizeof(text),
             "types x/count\nmain;w%d;f%d 1\nmain;shared %d\n", writer, i % 7,
             i + 1);
    return sketch(text);
}

static void *write_profiles(void *arg)
{
    struct writer *w = arg;

    for (int i = 0; i < PUTS; i++) {
        struct profile *p = writers_profile(w->number, i);

        if (!put_profile(w->s, p, w->number % 2 ? "odd" : "even", "cpu", 0,
                         &w->ids[i]))
            test_failed = true;
        profile_free(p);
    }
    return NULL;
}

static _Atomic bool stop_reading;

static void *read_profiles(void *arg)
{
    struct store_query q = everything();
    struct profile *p;
    struct error err;
    int64_t last = 0;

    while (!stop_reading) {
        enum store_status status =
            store_merge(arg, &q, STORE_AS_SENT, NULL, &p, NULL, &err);
        int64_t total = 0;

        if (status == STORE_NOT_FOUND)
            continue;
        if (status != STORE_OK) {
            printf("# merge: %s\n", err.text);
            test_failed = true;
            break;
        }
        for (size_t i = 0; i < p->n_samples; i++)
            total += p->values[i];
        if (total < last) { /* something was seen once and then not */
            printf("# the total went from %lld to %lld\n", (long long)last,
                   (long long)total);
            test_failed = true;
        }
        last = total;
        profile_free(p);
    }
    return NULL;
}

TEST(readers_and_writers_do_not_disturb_each_other)
{
    struct store_options o = (store_place(), store_test_options());
    pthread_t threads[WRITERS], reader;
    struct writer w[WRITERS];
    struct store_query q = everything();
    struct profile *got;
    struct error err;
    int64_t total = 0;
    struct store *s;

    o.no_background = false;
    o.seal_profiles = 15;
    o.compact_segments = 3;
    s = store_reopen(&o);
    stop_reading = false;
    pthread_create(&reader, NULL, read_profiles, s);
    for (int i = 0; i < WRITERS; i++) {
        w[i] = (struct writer){.s = s, .number = i};
        pthread_create(&threads[i], NULL, write_profiles, &w[i]);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    stop_reading = true;
    pthread_join(reader, NULL);
    EXPECT(store_merge(s, &q, STORE_AS_SENT, NULL, &got, NULL, &err) ==
           STORE_OK);
    for (size_t i = 0; i < got->n_samples; i++)
        total += got->values[i];
    EXPECT(total == WRITERS * (PUTS + PUTS * (PUTS + 1) / 2));
    profile_free(got);
    for (int i = 0; i < WRITERS; i++)
        for (int n = 0; n < PUTS; n++) {
            struct profile *p = writers_profile(i, n);

            EXPECT(stored_equals(s, &w[i].ids[n], p));
            profile_free(p);
        }
    store_close(s);
    store_clean();
}

static bool import(void *arg, const struct store_profile *p, struct str bytes)
{
    struct store_put put = {.service = p->service,
                            .type = p->type,
                            .labels = p->labels,
                            .n_labels = p->n_labels,
                            .bytes = bytes,
                            .id = &p->id,
                            .created_at_ns = p->created_at_ns,
                            .created_at_wins = true,
                            .allow_empty = true,
                            .is_opaque = p->is_opaque};
    struct error err;

    EXPECT(put_wait(arg, &put, NULL, &err) == STORE_OK);
    return true;
}

TEST(what_is_exported_can_be_imported)
{
    struct store *from = (store_place(), store_reopen(NULL)), *to;
    char first[4096];
    uint64_t state = random_seed();
    struct store_query q = everything();
    struct store_id ids[20];
    struct profile *all[20];
    struct error err;

    snprintf(first, sizeof(first), "%s", store_dir);
    for (int i = 0; i < 20; i++) {
        all[i] = random_profile(&state, 0);
        EXPECT(put_profile(from, all[i], "api", "cpu", 0, &ids[i]));
        if (i == 10)
            EXPECT(sqlite_store_seal_all(from, &err));
    }
    to = (store_place(), store_reopen(NULL));
    EXPECT(store_export(from, &q, NULL, import, to, NULL, &err) == STORE_OK);
    for (int i = 0; i < 20; i++) {
        EXPECT(stored_equals(to, &ids[i], all[i]));
        profile_free(all[i]);
    }
    store_close(from);
    store_close(to);
    store_clean();
    snprintf(store_dir, sizeof(store_dir), "%s", first);
    store_clean();
}

TEST_MAIN
