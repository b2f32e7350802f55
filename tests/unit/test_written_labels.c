/*
 * What a profile says of labels.  A program of its own, because its last case
 * uses the labels' memory up.
 */
#include "test.h"

#include <stdio.h>

#include "base/gzip.h"
#include "runtime/state.h"
#include "runtime/thread/thread_labels.h"
#include "runtime/write/writer.h"

static struct error err;

/* A profile with a sample for each tag, as bytes. */
static struct buf write_profiles(const uint64_t *tags, size_t n)
{
    struct profile_spec spec = {
        .types = {{"samples", "count"}}, .n_types = 1, .has_label_tags = true};
    struct buf packed = BUF_INIT(1 << 20), raw = BUF_INIT(1 << 20);
    const uint64_t pc = (uint64_t)(uintptr_t)write_profiles + 1;
    struct stack_table table;

    EXPECT(runtime_ready(&err));
    EXPECT(stack_table_init(&table, 4096, 1 << 18));
    for (size_t i = 0; i < n; i++)
        stack_record_count(stack_table_add(&table, &pc, 1, tags[i]), 0, 1);
    EXPECT(profile_write(&spec, &table, &packed, &err));
    EXPECT(gzip_inflate(buf_str(&packed), &raw, &err));
    stack_table_release(&table);
    buf_release(&packed);
    return raw;
}

/* With one sample; 0: without. */
static struct buf write_profile(uint64_t tag)
{
    return write_profiles(&tag, tag != 0);
}

static bool says(uint64_t tag, const char *text)
{
    struct buf raw = write_profile(tag);
    bool found = str_contains(buf_str(&raw), str_from(text));

    buf_release(&raw);
    return found;
}

TEST(thread_and_state_are_labels_where_they_are_known)
{
    struct label_tag tag = {.set = labels_push(0, STR("key"), STR("value"))};
    uint64_t plain = label_tag_pack(tag), with_thread, with_state;

    tag.tid = 4711;
    with_thread = label_tag_pack(tag);
    tag.state = STATE_RUNNING;
    with_state = label_tag_pack(tag);
    EXPECT(says(plain, "key") && says(plain, "value"));
    EXPECT(!says(plain, "thread_id") && !says(plain, "state"));
    EXPECT(says(with_thread, "thread_id") && !says(with_thread, "state"));
    EXPECT(says(with_state, "thread_id") && says(with_state, "state"));
    EXPECT(says(with_state, label_state_name(STATE_RUNNING)));
}

/* More values than the writer remembers at a time. */
TEST(every_sample_has_its_own_value)
{
    enum { N = 1000 };
    char text[32];
    uint64_t tags[N];

    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof(text), "value <%d>", i);
        tags[i] = label_tag_pack((struct label_tag){
            .set = labels_push(0, STR("key"), str_from(text))});
    }
    struct buf raw = write_profiles(tags, N);

    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof(text), "value <%d>", i);
        EXPECT(str_contains(buf_str(&raw), str_from(text)));
    }
    buf_release(&raw);
}

TEST(a_profile_says_how_many_labels_had_no_room)
{
    struct buf before = write_profile(0), after;
    char text[64];
    uint32_t base;

    EXPECT(!str_contains(buf_str(&before), STR("labels without room")));
    base = labels_push(0, STR("id"), STR("base"));
    for (int i = 0; labels_lost() < 3 && i < 1000000; i++) {
        snprintf(text, sizeof(text), "key %d", i);
        labels_push(base, str_from(text), STR("x"));
    }
    EXPECT(labels_lost() == 3);
    after = write_profile(0);
    EXPECT(str_contains(buf_str(&after), STR("labels without room: 3")));
    buf_release(&before);
    buf_release(&after);
}

TEST_MAIN
