#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/i64.h"
#include "base/label_set.h"
#include "base/map.h"
#include "base/number.h"
#include "base/search.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/vec.h"

TEST(split_gives_empty_pieces_between_separators)
{
    struct str rest = STR("a,,b"), piece;

    EXPECT(str_split(&rest, ',', &piece));
    EXPECT_STR(piece, "a");
    EXPECT(str_split(&rest, ',', &piece));
    EXPECT_STR(piece, "");
    EXPECT(str_split(&rest, ',', &piece));
    EXPECT_STR(piece, "b");
    EXPECT(!str_split(&rest, ',', &piece));
}

TEST(numbers_are_whole_texts_in_range)
{
    int64_t i;
    uint64_t u;

    EXPECT(str_to_i64(STR("-9223372036854775808"), 10, &i) && i == INT64_MIN);
    EXPECT(!str_to_i64(STR("9223372036854775808"), 10, &i));
    EXPECT(str_to_u64(STR("ffffffffffffffff"), 16, &u) && u == UINT64_MAX);
    EXPECT(!str_to_u64(STR("10000000000000000"), 16, &u));
    EXPECT(!str_to_u64(STR(""), 10, &u));
    EXPECT(!str_to_u64(STR("1 "), 10, &u));
}

TEST(vectors_grow_from_small_to_mapped_and_stay_zeroed)
{
    struct arena *a = arena_new();
    VEC(uint64_t) v = {0};
    bool zeroed = true, kept = true;

    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t *slot = vec_push(a, &v);

        zeroed &= *slot == 0;
        *slot = i + 1;
    }
    for (uint64_t i = 0; i < v.n; i++)
        kept &= v.v[i] == i + 1;
    EXPECT(zeroed);
    EXPECT(kept);
    arena_free(a);
}

TEST(the_search_finds_the_first_place_in_any_part)
{
    for (size_t from = 0; from <= 9; from++)
        for (size_t to = from; to <= 9; to++)
            for (size_t place = 0; place <= 10; place++) {
                size_t first = place < from ? from : place > to ? to : place;

                EXPECT(search_first(i, from, to, i >= place) == first);
            }
    EXPECT(search_first(i, 5, 3, true) == 5); /* nothing to look at */
}

TEST(an_allocation_grows_out_of_a_roomy_chunk)
{
    struct arena *a = arena_new();
    size_t n = 200u << 10;
    char *p;

    for (int i = 0; i < 64; i++) /* the next chunk is one of a megabyte */
        arena_alloc(a, 32u << 10);
    p = arena_alloc(a, n);
    memset(p, 'x', n);
    for (; n < 4u << 20; n += 64u << 10)
        p = arena_grow(a, p, n, n + (64u << 10));
    EXPECT(p[0] == 'x' && p[(200u << 10) - 1] == 'x');
    EXPECT(p[200u << 10] == 0 && p[n - 1] == 0);
    arena_free(a);
}

TEST(map_finds_every_record_after_growing)
{
    struct arena *a = arena_new();
    struct map m;
    uint32_t found = 0;

    map_init(&m, a, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        struct map_cursor c = map_find(&m, map_mix(0, i));

        while (map_next(&m, &c))
            ;
        map_add(&m, &c, i);
    }
    for (uint32_t i = 0; i < 100000; i++) {
        struct map_cursor c = map_find(&m, map_mix(0, i));

        while (map_next(&m, &c))
            found += c.record == i;
    }
    EXPECT(found == 100000);
    arena_free(a);
}

TEST(bytes_are_two_digits_each)
{
    char text[6];
    size_t n = number_put_bytes(text, "\x00\x0a\xf9", 3);

    EXPECT_STR(str_of(text, n), "000af9");
}

TEST(sha256_is_that_of_the_standard)
{
    /* FIPS 180-4's examples, and lengths around the ends of a block. */
    static const struct {
        size_t n; /* of the letter a; 0: the text */
        const char *text, *hex;
    } cases[] = {
        {0, "",
         "e3b0c44298fc1c149afbf4c8996fb924"
         "27ae41e4649b934ca495991b7852b855"},
        {0, "abc",
         "ba7816bf8f01cfea414140de5dae2223"
         "b00361a396177a9cb410ff61f20015ad"},
        {0, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039"
         "a33ce45964ff2167f6ecedd419db06c1"},
        {55, NULL,
         "9f4390f8d30c2dd92ec9f095b65e2b9a"
         "e9b0a925a5258e241c9f1e910f734318"},
        {64, NULL,
         "ffe054fe7ae0cb6dc65c3af9b61d5209"
         "f439851db43d0ba5997337df154668eb"},
        {1000, NULL,
         "41edece42d63e8d9bf515a9ba6932e1c"
         "20cbc9f5a5d134645adb5db1b9737ea3"},
    };
    char as[1000], hex[2 * SHA256_BYTES];
    unsigned char digest[SHA256_BYTES];

    memset(as, 'a', sizeof(as));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        sha256(cases[i].text ? str_from(cases[i].text) : str_of(as, cases[i].n),
               digest);
        number_put_bytes(hex, digest, SHA256_BYTES);
        EXPECT(str_eq(str_of(hex, sizeof(hex)), str_from(cases[i].hex)));
    }
}

TEST(base64_text_gives_the_bytes_back)
{
    struct buf text = BUF_INIT(BUF_NO_LIMIT);
    char bytes[256], back[256];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 167);
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        buf_clear(&text);
        base64_encode(&text, str_of(bytes, n));
        EXPECT(text.len == (n + 2) / 3 * 4);
        EXPECT(base64_decode(buf_str(&text), back) == (ptrdiff_t)n);
        EXPECT(memcmp(back, bytes, n) == 0);
    }
    buf_clear(&text);
    base64_encode(&text, STR("ab"));
    EXPECT_STR(buf_str(&text), "YWI=");
    buf_release(&text);
}

TEST(arithmetic_wraps_and_never_traps)
{
    EXPECT(i64_add(INT64_MAX, 1) == INT64_MIN);
    EXPECT(i64_abs(INT64_MIN) == INT64_MIN);
    EXPECT(i64_abs(-5) == 5);
    EXPECT(i64_div(INT64_MIN, -1) == INT64_MIN);
    EXPECT(i64_div(-7, 2) == -3);
}

TEST(map_keeps_its_records_when_room_is_reserved)
{
    struct arena *a = arena_new();
    struct map m;
    const uint64_t *slots;
    uint32_t found = 0;

    map_init(&m, a, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        struct map_cursor c;

        if (i == 10)
            map_reserve(&m, 990);
        c = map_find(&m, map_mix(0, i));
        while (map_next(&m, &c))
            ;
        slots = m.slots;
        map_add(&m, &c, i);
        EXPECT(i < 10 || m.slots == slots);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        struct map_cursor c = map_find(&m, map_mix(0, i));

        while (map_next(&m, &c))
            found += c.record == i;
    }
    EXPECT(found == 1000);
    arena_free(a);
}

TEST(expected_allocations_stand_side_by_side)
{
    struct arena *a = arena_new();
    char *first, *last = NULL;

    arena_expect(a, 100u << 10);
    first = arena_alloc(a, 16);
    for (int i = 0; i < 99; i++)
        last = arena_alloc(a, 1u << 10);
    EXPECT(last == first + 16 + (98u << 10));
    arena_free(a);
}

static bool is_zero(const char *p, size_t n)
{
    while (n > 0 && p[n - 1] == 0)
        n--;
    return n == 0;
}

/* What another arena leaves behind is in its chunks, which are used again. */
TEST(arena_memory_is_zero_again)
{
    for (int round = 0; round < 3; round++) {
        struct arena *a = arena_new();
        char *p = arena_alloc(a, 100u << 10);

        EXPECT(is_zero(p, 100u << 10));
        memset(p, 'x', 100u << 10);
        p = arena_alloc(a, 1u << 10);
        EXPECT(is_zero(p, 1u << 10));
        p = arena_grow(a, p, 1u << 10, 40u << 10);
        EXPECT(is_zero(p, 40u << 10));
        memset(p, 'y', 40u << 10);
        arena_free(a);
    }
}

TEST(hashes_of_texts_differ_by_every_byte)
{
    char text[32];
    struct str s;

    for (size_t n = 1; n <= sizeof(text); n++)
        for (size_t i = 0; i < n; i++) {
            memset(text, 'a', n);
            s = str_of(text, n);
            uint64_t before = str_hash_seeded(s, 7);
            text[i] = 'b';
            EXPECT(str_hash_seeded(s, 7) != before);
        }
}

TEST(map_tells_words_apart_that_differ_in_their_upper_half)
{
    struct arena *a = arena_new();
    size_t same = 0;
    struct map m;

    map_init(&m, a, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        struct map_cursor c = map_find(&m, map_mix(0, i << 32 | 7));

        while (map_next(&m, &c))
            same++;
        map_add(&m, &c, (uint32_t)i);
    }
    EXPECT(same < 10);
    arena_free(a);
}

/* How often a search among `n` texts of 16 bytes meets another's hash. */
static size_t hash_meetings(const uint64_t (*texts)[2], size_t n)
{
    struct arena *a = arena_new();
    size_t meetings = 0;
    struct map m;

    map_init(&m, a, 0);
    for (size_t i = 0; i < n; i++) {
        struct str text = str_of((const char *)texts[i], sizeof(texts[i]));
        struct map_cursor c = map_find(&m, str_hash_seeded(text, m.seed));

        while (map_next(&m, &c))
            meetings++;
        map_add(&m, &c, (uint32_t)i);
    }
    arena_free(a);
    return meetings;
}

TEST(texts_chosen_to_collide_do_so_in_no_map)
{
    static uint64_t texts[1000][2];
    uint64_t start = hash_mix(16), same = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        texts[i][0] = i;
        texts[i][1] = hash_mix(start ^ i) ^ 12345; /* undoes the first word */
    }
    for (size_t i = 1; i < 1000; i++)
        same += str_hash(str_of((const char *)texts[i], 16)) ==
                str_hash(str_of((const char *)texts[0], 16));
    EXPECT(same == 999);
    EXPECT(hash_meetings(texts, 1000) < 10);
}

TEST(no_change_of_high_bits_cancels_another_under_every_seed)
{
    uint64_t pair[2][2] = {{1, 2}};
    size_t meetings = 0;

    /* What cancels when a step keeps just the lower half of the product. */
    pair[1][0] = pair[0][0] ^ (uint64_t)1 << 63;
    pair[1][1] = pair[0][1] ^ (uint64_t)1 << 63 ^ (uint64_t)1 << 31;
    for (int i = 0; i < 100; i++)
        meetings += hash_meetings((const uint64_t(*)[2])pair, 2);
    EXPECT(meetings < 10);
}

static struct str read_back(const char *path, struct buf *out)
{
    struct error err;

    buf_clear(out);
    EXPECT(file_read(path, out, &err));
    return buf_str(out);
}

TEST(a_file_in_pieces_is_there_when_it_is_closed_and_not_before)
{
    char dir[] = "/tmp/test-base-XXXXXX", path[64];
    struct buf text = BUF_INIT(1000);
    struct file_writer w;
    struct error err;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/file", dir);
    EXPECT(file_write(path, STR("old"), &err));
    EXPECT(file_writer_open(&w, path, &err));
    EXPECT(file_writer_add(&w, STR("one, "), &err));
    EXPECT(file_writer_add(&w, STR("two"), &err));
    EXPECT_STR(read_back(path, &text), "old");
    EXPECT(file_writer_close(&w, true, &err));
    EXPECT_STR(read_back(path, &text), "one, two");

    EXPECT(file_writer_open(&w, path, &err));
    EXPECT(file_writer_add(&w, STR("three"), &err));
    EXPECT(!file_writer_close(&w, false, &err));
    EXPECT_STR(read_back(path, &text), "one, two");
    EXPECT(unlink(path) == 0);
    EXPECT(rmdir(dir) == 0); /* nothing else was left in it */
    buf_release(&text);
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    EXPECT(stat(path, &st) == 0);
    return st.st_mode & 07777;
}

TEST(a_new_file_has_the_mode_that_the_umask_leaves)
{
    char dir[] = "/tmp/test-base-XXXXXX", path[64], secret[64];
    mode_t mask = umask(027);
    struct error err;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/file", dir);
    snprintf(secret, sizeof(secret), "%s/secret", dir);
    EXPECT(file_write(path, STR("new"), &err));
    EXPECT(mode_of(path) == 0640);
    EXPECT(chmod(path, 0604) == 0);
    EXPECT(file_write(path, STR("again"), &err));
    EXPECT(mode_of(path) == 0604); /* as it was */
    umask(0);
    EXPECT(file_write_private(secret, STR("x"), &err));
    EXPECT(mode_of(secret) == 0600);
    EXPECT(chmod(secret, 0666) == 0);
    EXPECT(file_write_private(secret, STR("x"), &err));
    EXPECT(mode_of(secret) == 0600);
    EXPECT(umask(mask) == 0);
    EXPECT(unlink(path) == 0 && unlink(secret) == 0 && rmdir(dir) == 0);
}

static atomic_bool is_written;

/* How many of the files that another thread creates have a wrong mode. */
static void *create_files(void *dir)
{
    char path[64];
    size_t wrong = 0;

    snprintf(path, sizeof(path), "%s/other", (const char *)dir);
    while (!atomic_load(&is_written)) {
        close(open(path, O_CREAT | O_WRONLY, 0666));
        wrong += mode_of(path) != 0644;
        unlink(path);
    }
    return (void *)wrong;
}

TEST(writing_a_file_does_not_change_the_umask_for_other_threads)
{
    char dir[] = "/tmp/test-base-XXXXXX", path[64];
    mode_t mask = umask(022);
    pthread_t other;
    struct error err;
    void *wrong;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/file", dir);
    EXPECT(pthread_create(&other, NULL, create_files, dir) == 0);
    for (int i = 0; i < 2000; i++) {
        EXPECT(file_write(path, STR("new"), &err));
        EXPECT(unlink(path) == 0);
    }
    atomic_store(&is_written, true);
    EXPECT(pthread_join(other, &wrong) == 0);
    EXPECT(wrong == NULL);
    umask(mask);
    EXPECT(rmdir(dir) == 0);
}

TEST(labels_are_sorted_and_empty_values_do_not_exist)
{
    struct arena *a = arena_new();
    struct label_set s = {0}, copy;

    label_set_put(a, &s, STR("job"), STR("api"));
    label_set_put(a, &s, STR("instance"), STR("a:1"));
    label_set_put(a, &s, STR("zone"), STR("eu"));
    label_set_put(a, &s, STR("job"), STR("web"));
    EXPECT(s.n == 3);
    EXPECT_STR(s.v[0].name, "instance");
    EXPECT_STR(s.v[2].name, "zone");
    EXPECT_STR(label_set_get(&s, STR("job")), "web");
    EXPECT_STR(label_set_get(&s, STR("pod")), "");

    copy = label_set_copy(a, &s);
    EXPECT(label_set_equal(&s, &copy));
    label_set_put(a, &s, STR("job"), STR(""));
    label_set_put(a, &s, STR("pod"), STR(""));
    EXPECT(s.n == 2);
    EXPECT_STR(label_set_get(&s, STR("job")), "");
    EXPECT(!label_set_equal(&s, &copy));
    arena_free(a);
}

TEST_MAIN
