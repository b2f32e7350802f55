#include "test.h"

#include "base/gzip.h"
#include "fail_realloc.h"
#include "message.h"
#include "profile/check.h"
#include "profile/encode.h"
#include "profile/read.h"
#include "random_profile.h"
#include "sketch.h"

static struct buf encoded(const struct profile *p)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    profile_encode(p, &b);
    EXPECT(buf_ok(&b));
    return b;
}

static struct profile *decoded(struct str bytes)
{
    struct error err = {""};
    struct profile *p = profile_read_memory(bytes, NULL, &err);

    EXPECT_STR(str_from(err.text), "");
    return p;
}

/* Does the profile encode to the message? */
static void expect_message(int line, const struct profile *p, const char *want)
{
    struct buf got = encoded(p), wanted = message(want);

    if (!str_eq(buf_str(&got), buf_str(&wanted))) {
        test_failed = true;
        printf("# line %d: not the bytes of %s\n#", line, want);
        for (size_t i = 0; i < got.len; i++)
            printf(" %02x", (unsigned char)got.data[i]);
        printf("\n");
    }
    buf_release(&got);
    buf_release(&wanted);
}

#define EXPECT_MESSAGE(p, want) expect_message(__LINE__, (p), (want))

/* Does the message read and write as the other message? */
static void expect_rewritten(int line, const char *from, const char *to)
{
    struct buf b = message(from);
    struct profile *p = decoded(buf_str(&b));

    if (p)
        expect_message(line, p, to);
    profile_free(p);
    buf_release(&b);
}

#define EXPECT_REWRITTEN(from, to) expect_rewritten(__LINE__, (from), (to))

TEST(an_empty_profile_has_an_empty_string_and_a_default_type)
{
    struct profile *p = profile_new();

    EXPECT_MESSAGE(p, "6: 14=0");
    profile_free(p);
}

TEST(fields_come_in_order_of_their_numbers)
{
    EXPECT_REWRITTEN(
        "15=1 14=2 13=3 12=4 11{1=4 2=5} 10=6 9=7 8=6 7=7 6: 6:url 6:type "
        "6:note 6:cpu 6:ns 6:keep 6:drop 5{1=1 5=4 2=1} "
        "4{1=1 3=5 4{3=2 2=1 1=1} 2=1 5=1} "
        "3{10=1 9=1 8=1 7=1 6=2 5=1 4=4 3=3 2=2 1=1} 2{2=7 1=1} 1{2=5 1=4}",
        "1{1=1 2=2} 2{1=1 2=7} "
        "3{1=1 2=2 3=3 4=4 5=3 6=4 7=1 8=1 9=1 10=1} "
        "4{1=1 2=1 3=5 4{1=1 2=1 3=2} 5=1} 5{1=1 2=3 5=4} "
        "6: 6:cpu 6:ns 6:url 6:type 6:drop 6:keep 6:note "
        "7=5 8=6 9=7 10=6 11{1=1 2=2} 12=4 13=7 14=4 15=3");
}

TEST(strings_are_numbered_by_first_use_and_unused_ones_dropped)
{
    EXPECT_REWRITTEN(
        "6: 6:unused 6:doc 6:file 6:fn 6:build 6:bin 6:unit 6:n 6:b 6:v 6:a "
        "6:count 1{1=12 2=12} 2{2=1 3{1=8 3=4 4=7} 3{1=9 2=10} 3{1=11 2=10} "
        "3{1=9 2=11}} 3{1=1 5=6 6=5} 5{1=1 2=4 3=4 4=3} 15=2",
        "1{1=1 2=1} 2{2=1 3{1=2 2=3} 3{1=4 2=3} 3{1=4 2=2} 3{1=5 3=4 4=6}} "
        "3{1=1 5=7 6=8} 5{1=1 2=9 3=9 4=10} 6: 6:count 6:a 6:v 6:b 6:n 6:unit "
        "6:bin 6:build 6:fn 6:file 6:doc 14=0 15=11");
}

TEST(zeros_are_left_out_but_not_of_lists)
{
    EXPECT_REWRITTEN("1{} 1{} 1{} 2{2[0 0 5]} 6: 3{1=1 2=0 7=0} 4{1=1 4{1=1}} "
                     "5{1=1} 10=0 11{} 12=0 13[0 0] 13=0 14=0",
                     "1{} 1{} 1{} 2{2[0 0 5]} 3{1=1} 4{1=1 4{1=1}} 5{1=1} 6: "
                     "13[0 0 0] 14=0");
}

TEST(lists_of_one_and_two_are_not_packed)
{
    EXPECT_REWRITTEN("1{} 1{} 2{1[1 1] 2[3 4]} 2{1[1 1 1] 2=0 2=0} 4{1=1} 6: "
                     "13[0 0]",
                     "1{} 1{} 2{1=1 1=1 2=3 2=4} 2{1[1 1 1] 2=0 2=0} 4{1=1} 6: "
                     "13=0 13=0 14=0");
}

TEST(labels_without_value_lose_what_zero_cannot_say)
{
    /* string 2 is empty: as value, as unit */
    EXPECT_REWRITTEN("1{} 2{2=1 3{1=1 2=2} 3{1=3 3=4 4=2}} 6: 6:k 6: 6:n",
                     "1{} 2{2=1 3{1=1} 3{1=2 3=4}} 6: 6:k 6:n 14=0");
}

TEST(ids_are_those_of_the_file)
{
    EXPECT_REWRITTEN(
        "1{} 2{1[900 5 900] 2=1} 4{1=5 2=70} 4{1=900 4{1=8}} 3{1=70} 5{1=8} 6:",
        "1{} 2{1[900 5 900] 2=1} 3{1=70} 4{1=5 2=70} 4{1=900 4{1=8}} 5{1=8} 6: "
        "14=0");
}

/* Samples whose packed frames, and they themselves, are just below and above
 * where a length takes another byte; ids of one to four bytes. */
TEST(lengths_of_all_sizes_are_right)
{
    const uint32_t locations = 1 << 21 | 1;
    struct profile *p = profile_new(), *q;
    struct sample_builder s;
    struct buf b;
    int64_t value = 1;
    uint32_t id = 0;

    *vec_push(p->arena, &p->types) = (struct value_type){0, 0};
    vec_reserve(p->arena, &p->locations, locations);
    for (uint32_t i = 0; i < locations; i++)
        *vec_push(p->arena, &p->locations) =
            (struct location){.id = i + 1, .mapping = NO_INDEX};
    sample_builder_init(&s, p);
    for (size_t depth = 0; depth < 20000; depth += depth < 200 ? 1 : 999) {
        for (size_t i = 0; i < depth; i++) {
            id = (id * 5 + 1) % locations;
            sample_builder_frame(&s, i % 3 ? id : id % 200);
        }
        sample_builder_end(&s, &value);
    }
    b = encoded(p);
    q = decoded(buf_str(&b));
    EXPECT(q && q->n_samples == p->n_samples);
    EXPECT(q && memcmp(q->loc_start, p->loc_start,
                       (p->n_samples + 1) * sizeof(size_t)) == 0);
    EXPECT(q && memcmp(q->stack, p->stack,
                       p->loc_start[p->n_samples] * sizeof(uint32_t)) == 0);
    profile_free(p);
    profile_free(q);
    buf_release(&b);
}

TEST(what_is_written_reads_back_the_same)
{
    struct profile *p = sketch("types samples/count cpu/nanoseconds\n"
                               "period cpu/nanoseconds 10\n"
                               "map /bin/app 1000-5000 build\n"
                               "main;/bin/app!read<copy@io.c:7 2 20 k=v n:3\n"
                               "main;a;b;c -1 0\n");
    struct buf b = encoded(p);
    struct profile *q = decoded(buf_str(&b));
    char *want = sketch_of(p);

    EXPECT_SKETCH(q, want);
    free(want);
    buf_release(&b);
    profile_free(p);
    profile_free(q);
}

TEST(random_profiles_are_stable_through_reading_and_writing)
{
    uint64_t state = random_seed();

    for (int i = 0; i < 300; i++) {
        struct profile *p = random_profile(&state, -3), *q;
        struct buf first = encoded(p), second, z = BUF_INIT(BUF_NO_LIMIT);
        char *want = sketch_of(p);
        struct error err;

        q = decoded(buf_str(&first));
        EXPECT(q && profile_check(q, &err));
        EXPECT_SKETCH(q, want);
        second = encoded(q);
        EXPECT(str_eq(buf_str(&first), buf_str(&second)));
        profile_free(q);
        EXPECT(profile_encode_gzip(p, &z, &err));
        q = decoded(buf_str(&z));
        EXPECT_SKETCH(q, want);
        profile_free(q);
        profile_free(p);
        free(want);
        buf_release(&first);
        buf_release(&second);
        buf_release(&z);
    }
}

/* So many samples that their memory is given back underway. */
static struct profile *many_samples(void)
{
    struct profile *p = sketch("types a/b\n"
                               "x;y;z 1 k=v\n");
    struct sample_builder s;

    sample_builder_init(&s, p);
    for (int64_t i = 0; i < 100000; i++) {
        for (int64_t f = 0; f < 5 + i % 10; f++)
            sample_builder_frame(&s, (uint32_t)(f % 3));
        if (i % 3 == 0)
            sample_builder_label(&s, p->labels[0]);
        sample_builder_end(&s, &i);
    }
    return p;
}

TEST(a_profile_that_is_consumed_gives_the_same_bytes)
{
    struct profile *p = many_samples();
    struct buf raw = encoded(p), z = BUF_INIT(BUF_NO_LIMIT);
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    EXPECT(profile_encode_gzip_consume(p, &z, &err));
    EXPECT(gzip_inflate(buf_str(&z), &out, &err));
    EXPECT(str_eq(buf_str(&raw), buf_str(&out)));
    EXPECT(p->n_samples == 0 && p->locations.n == 3);
    EXPECT_SKETCH(p, "");
    buf_release(&raw);
    buf_release(&z);
    buf_release(&out);
    profile_free(p);
}

TEST(running_out_of_memory_at_any_point_is_an_error)
{
    struct profile *p = sketch("types a/b\n"
                               "x;y;z 1 k=v n:7bytes\n");
    bool done = false;

    for (int n = 1; !done; n++) {
        struct buf z = BUF_INIT(BUF_NO_LIMIT);
        struct error err = {""};

        fail_realloc_at(n);
        done = profile_encode_gzip(p, &z, &err);
        fail_realloc_at(0);
        EXPECT(done == (err.text[0] == '\0'));
        EXPECT(n < 20);
        buf_release(&z);
    }
    profile_free(p);
}

TEST_MAIN
