#include "test.h"

#include <stdlib.h>

#include "base/buf.h"
#include "message.h"
#include "profile/decode.h"
#include "profile/proto.h"
#include "profile/wire.h"
#include "sketch.h"

static const struct profile_limits no_limits = {
    .input_bytes = SIZE_MAX,
    .inflated_bytes = SIZE_MAX,
    .samples = SIZE_MAX,
    .string_bytes = SIZE_MAX,
    .stack_depth = SIZE_MAX,
};

static enum decode_verdict verdict;
static struct error err;

static struct profile *decode(struct str bytes)
{
    return profile_decode(bytes, &no_limits, &verdict, &err);
}

static struct profile *decode_text_form(const char *text)
{
    struct buf b = message(text);
    struct profile *p = decode(buf_str(&b));

    buf_release(&b);
    return p;
}

/* Strings 1 to 7, and one sample type. */
#define STRINGS                                                                \
    "6: 6:samples 6:count 6:main 6:key 6:value 6:file 6: 1{1=1 2=2} "
#define TABLES                                                                 \
    "3{1=1 5=6} 5{1=1 2=3} 4{1=1 2=1 4{1=1 2=7}} 4{1=2 4{1=1}} " STRINGS

static const char *fault_of(const char *text)
{
    struct profile *p = decode_text_form(text);

    EXPECT(p == NULL);
    profile_free(p);
    return err.text;
}

static void expect_verdict(int line, const char *text, enum decode_verdict want,
                           const char *words)
{
    struct profile *p;

    err.text[0] = '\0';
    p = decode_text_form(text);
    if (p || verdict != want) {
        test_failed = true;
        printf("# line %d: verdict %d, want %d\n", line, p ? -1 : (int)verdict,
               (int)want);
    }
    if (words)
        test_expect_str(__FILE__, line, str_from(err.text), str_from(words));
    profile_free(p);
}

#define EXPECT_VERDICT(text, want, words)                                      \
    expect_verdict(__LINE__, (text), (want), (words))

static void expect_samples(int line, const char *text, const char *want)
{
    struct profile *p = decode_text_form(text);

    if (!p) {
        test_failed = true;
        printf("# line %d: %s\n", line, err.text);
        return;
    }
    sketch_expect(__FILE__, line, p, want);
    profile_free(p);
}

#define EXPECT_SAMPLES(text, want) expect_samples(__LINE__, (text), (want))

TEST(repeated_scalars_come_packed_or_one_by_one_or_both)
{
    const char *want = "main;file!main:7;file!main:7 5\n";

    EXPECT_SAMPLES("2{1[1 1 2] 2[5]} " TABLES, want);
    EXPECT_SAMPLES("2{1=1 1=1 1=2 2=5} " TABLES, want);
    EXPECT_SAMPLES("2{1=1 2=5 1[1 2]} " TABLES, want);
    EXPECT_SAMPLES("2{1[] 2[] 1[1 1] 2=5 1=2} " TABLES, want);
}

TEST(tables_may_come_in_any_order)
{
    const char *want = "main;file!main:7 5\n";

    EXPECT_SAMPLES(TABLES "2{1[1 2] 2=5}", want);
    EXPECT_SAMPLES("4{1=2 4{1=1}} 2{1[1 2] 2=5} 6: 6:samples 6:count 6:main "
                   "6:key 6:value 1{1=1 2=2} 6:file 4{1=1 2=1 4{1=1 2=7}} "
                   "5{1=1 2=3} 3{1=1 5=6}",
                   want);
}

TEST(unknown_fields_are_skipped)
{
    EXPECT_SAMPLES("99=1 98{1=1} 97* 96+ 0=7 2{1[1 2] 2=5 9=1 8{} 7* 6+ 0=1} "
                   "3{1=1 5=6 11=1 12:x} 5{1=1 2=3 6=1 99*} "
                   "4{1=1 2=1 4{1=1 2=7 4=1 5+} 6=1} 4{1=2 4{1=1}} " STRINGS,
                   "main;file!main:7 5\n");
}

TEST(the_last_of_several_counts)
{
    struct profile *p = decode_text_form(
        "2{1[1 2] 2=5} 9=0 9=7 10=1 10=2 12=1 12=3 11{1=1 2=2} 11{1=3} 14=1 "
        "14=2 15=3 15=1 7=1 7=2 8=1 8=3 3{1=9 1=1 5=1 5=6} 5{1=1 2=1 2=3} "
        "4{1=1 2=7 2=1 4{1=1 2=7}} 4{1=2 4{1=9 1=1}} " STRINGS);

    EXPECT_SKETCH(p, "main;file!main:7 5\n");
    EXPECT(p->time_ns == 7 && p->duration_ns == 2 && p->period == 3);
    EXPECT_STR(profile_str(p, p->period_type.type), "main");
    EXPECT_STR(profile_str(p, p->period_type.unit), ""); /* a fresh one */
    EXPECT_STR(profile_str(p, p->default_type), "count");
    EXPECT_STR(profile_str(p, p->doc_url), "samples");
    EXPECT_STR(profile_str(p, p->drop_frames), "count");
    EXPECT_STR(profile_str(p, p->keep_frames), "main");
    profile_free(p);
}

TEST(all_fields_of_the_tables_arrive)
{
    struct profile *p = decode_text_form(
        STRINGS "3{1=8 2=4096 3=8192 4=16 5=6 6=4 7=1 8=1 9=1 10=1} 3{1=9 7=0} "
                "5{1=7 2=3 3=4 4=6 5=12} "
                "4{1=5 2=8 3=5000 4{1=7 2=3 3=4} 4{1=7} 5=1} 13=3 13[4 5]");
    struct mapping *m = p->mappings.v;
    struct location *l = p->locations.v;

    EXPECT(m->id == 8 && m->start == 4096 && m->limit == 8192);
    EXPECT(m->offset == 16 && m->has_functions && m->has_filenames);
    EXPECT(m->has_line_numbers && m->has_inline_frames);
    EXPECT(!m[1].has_functions && p->mappings.n == 2);
    EXPECT_STR(profile_str(p, m->build_id), "key");
    EXPECT(p->functions.v[0].id == 7 && p->functions.v[0].start_line == 12);
    EXPECT_STR(profile_str(p, p->functions.v[0].system_name), "key");
    EXPECT_STR(profile_str(p, p->functions.v[0].filename), "file");
    EXPECT(l->id == 5 && l->address == 5000 && l->is_folded);
    EXPECT(l->mapping == 0 && l->n_lines == 2);
    EXPECT(p->lines.v[0].line == 3 && p->lines.v[0].column == 4);
    EXPECT(p->comments.n == 3);
    EXPECT_STR(profile_str(p, p->comments.v[2]), "value");
    profile_free(p);
}

TEST(a_missing_period_type_is_an_empty_one)
{
    struct profile *p = decode_text_form(STRINGS);

    EXPECT(p->period_type.type == 0 && p->period_type.unit == 0);
    EXPECT(p->n_samples == 0 && p->loc_start[0] == 0);
    profile_free(p);
}

TEST(equal_strings_have_one_id)
{
    struct profile *p =
        decode_text_form("6: 6:a 6:b 6:a 6: 5{1=1 2=1 3=3 4=4} 5{1=2 2=2}");
    struct function *f = p->functions.v;

    EXPECT(f[0].name == f[0].system_name && f[0].name != f[1].name);
    EXPECT(f[0].filename == 0);
    EXPECT(profile_find_string(p, STR("b")) == f[1].name);
    profile_free(p);
}

TEST(strings_are_bytes)
{
    struct buf b = message("6: ");
    struct profile *p;

    wire_add_bytes(&b, PROTO_STRING, STR("\xff\0\x80"));
    wire_add_u64(&b, PROTO_DOC_URL, 1);
    p = decode(buf_str(&b));
    EXPECT(str_eq(profile_str(p, p->doc_url), STR("\xff\0\x80")));
    profile_free(p);
    buf_release(&b);
}

/* What each message says about a field number; the samples' and the
 * profile's repeated scalars may be packed. */
TEST(known_fields_with_a_wrong_wire_type_are_refused)
{
    static const struct {
        const char *around;
        const char *scalars, *messages, *repeated;
    } schema[] = {
        {"%s", "\7\10\11\12\14\16\17", "\1\2\3\4\5\6\13", "\15"},
        {"1{%s}", "\1\2", "", ""},
        {"11{%s}", "\1\2", "", ""},
        {"2{%s}", "", "\3", "\1\2"},
        {"2{3{%s}}", "\1\2\3\4", "", ""},
        {"3{%s}", "\1\2\3\4\5\6\7\10\11\12", "", ""},
        {"4{%s}", "\1\2\3\5", "\4", ""},
        {"4{4{%s}}", "\1\2\3", "", ""},
        {"5{%s}", "\1\2\3\4\5", "", ""},
    };
    static const char *const kinds[] = {"=0", ":", "*", "+"};
    char field[32], text[64];

    for (size_t i = 0; i < sizeof(schema) / sizeof(*schema); i++)
        for (int number = 1; number <= 15; number++)
            for (int kind = 0; kind < 4; kind++) {
                bool scalar = strchr(schema[i].scalars, number) != NULL;
                bool bytes = strchr(schema[i].messages, number) != NULL;
                bool many = strchr(schema[i].repeated, number) != NULL;
                bool wrong = scalar  ? kind != 0
                             : bytes ? kind != 1
                             : many  ? kind > 1
                                     : false;
                struct buf b = message("6: ");
                struct profile *p;

                snprintf(field, sizeof(field), "%d%s", number, kinds[kind]);
                snprintf(text, sizeof(text), schema[i].around, field);
                message_add(&b, text);
                p = decode(buf_str(&b));
                EXPECT(wrong == (!p && verdict == DECODE_NOT_PROTO));
                if (wrong != (!p && verdict == DECODE_NOT_PROTO))
                    printf("# %s: %s\n", text, p ? "accepted" : err.text);
                profile_free(p);
                buf_release(&b);
            }
}

TEST(every_text_index_must_be_in_the_table)
{
    static const char *const places[] = {
        "1{1=%s}",     "1{2=%s}",     "3{1=1 5=%s}", "3{1=1 6=%s}",
        "5{1=1 2=%s}", "5{1=1 3=%s}", "5{1=1 4=%s}", "7=%s",
        "8=%s",        "14=%s",       "15=%s",       "11{1=%s}",
        "11{2=%s}",    "13=%s",       "13[0 %s]",    "2{3{1=%s}}",
        "2{3{2=%s}}",  "2{3{4=%s}}",
    };
    static const char *const outside[] = {"2", "0x8000000000000000",
                                          "0xffffffffffffffff", "0x100000000"};
    char text[128], whole[160];

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        for (size_t k = 0; k < sizeof(outside) / sizeof(*outside); k++) {
            snprintf(text, sizeof(text), places[i], outside[k]);
            snprintf(whole, sizeof(whole), "6: 6:a %s", text);
            EXPECT_VERDICT(whole, DECODE_NOT_PROTO, NULL);
        }
    EXPECT_VERDICT("6: 6:a 15=2", DECODE_NOT_PROTO,
                   "byte 7: string 2 of a table of 2");
}

TEST(a_string_table_must_start_with_an_empty_one)
{
    EXPECT_VERDICT("9=1", DECODE_NOT_PROTO, NULL); /* has none at all */
    EXPECT_VERDICT("6:a 6:", DECODE_NOT_PROTO,
                   "byte 0: the first string is not empty");
}

TEST(a_label_with_a_unit_or_value_of_no_consequence_is_not_looked_up)
{
    EXPECT_SAMPLES(TABLES "2{1=1 2=1 3{1=4 2=5 4=99}}",
                   "file!main:7 1 key=value\n");
}

TEST(labels_are_told_by_what_is_not_zero)
{
    /* string; number; unit alone; nothing at all; both */
    EXPECT_SAMPLES(TABLES "2{2=1 3{1=4 2=5} 3{1=3 3=9} 3{1=5 4=2} 3{1=6} "
                          "3{1=2 2=3 3=8}}",
                   "- 1 count=main key=value main:9 value:0count\n");
    /* string 7 is empty too, but its index is not zero */
    EXPECT_SAMPLES(TABLES "2{2=1 3{1=4 2=7} 3{1=3 4=7}}", "- 1 key= main:0\n");
}

TEST(labels_of_a_key_keep_their_order_and_get_units_together)
{
    struct profile *p = decode_text_form(
        TABLES "2{2=1 3{1=4 3=3} 3{1=3 2=5} 3{1=4 3=1 4=2} 3{1=3 2=4} "
               "3{1=2 3=7}} 2{2=1 3{1=4 3=3 4=7}}");

    EXPECT_SKETCH(p, "- 1 main=value main=key count:7 key:3 key:1count\n"
                     "- 1 key:3\n");
    EXPECT(p->labels[2].kind == LABEL_NUMBER);
    EXPECT(p->labels[3].kind == LABEL_MEASURE); /* since its sister is */
    EXPECT(p->labels[5].kind == LABEL_MEASURE); /* though its unit is "" */
    profile_free(p);
}

TEST(any_number_of_labels_is_sorted_and_keeps_the_order_of_equal_keys)
{
    for (uint64_t n = 0; n < 200; n += 7) {
        struct buf b = message("6: 6:a 6:b 6:c 6:d 6:e 1{} ");
        size_t mark = wire_open(&b, PROTO_SAMPLE);
        struct profile *p;

        wire_add_u64(&b, PROTO_SAMPLE_VALUE, 1);
        for (uint64_t i = 0; i < n; i++) {
            size_t label = wire_open(&b, PROTO_SAMPLE_LABEL);

            wire_add_u64(&b, PROTO_LABEL_KEY, 1 + i * i * 7 % 5);
            wire_add_u64(&b, PROTO_LABEL_NUM, 1 + i);
            wire_close(&b, label);
        }
        wire_close(&b, mark);
        p = decode(buf_str(&b));
        EXPECT(p && p->label_start[1] == n);
        for (size_t i = 1; p && i < n; i++) {
            const struct label *x = &p->labels[i - 1], *y = x + 1;

            EXPECT(x->key < y->key || (x->key == y->key && x->num < y->num));
        }
        profile_free(p);
        buf_release(&b);
    }
}

TEST(ids_may_be_sparse_unordered_and_enormous)
{
    EXPECT_SAMPLES(
        "2{1[18446744073709551615 2 1000000] 2=1} 3{1=77 5=6} 5{1=99999 2=3} "
        "5{1=1 2=4} 4{1=1000000 4{1=1}} 4{1=2 2=77} "
        "4{1=18446744073709551615 4{1=99999}} " STRINGS,
        "key;file!;main 1\n");
    EXPECT_SAMPLES("2{1[2 1 2] 2=1} 5{1=1 2=3} 5{1=2 2=4} 4{1=2 4{1=2}} "
                   "4{1=1 4{1=1}} " STRINGS,
                   "key;main;key 1\n");
}

TEST(ids_of_every_length_are_read)
{
    struct buf b = message("6: 6:a 1{1=1} ");
    uint64_t id = 1, ids[64];
    struct profile *p;
    size_t n = 0;

    for (; n < 64; n++, id = id << 1 | 1) {
        size_t mark = wire_open(&b, PROTO_LOCATION);

        wire_add_u64(&b, PROTO_LOCATION_ID, id);
        wire_add_u64(&b, PROTO_LOCATION_ADDRESS, n);
        wire_close(&b, mark);
        ids[n] = id;
    }
    for (size_t first = 0; first < n; first++) {
        size_t mark = wire_open(&b, PROTO_SAMPLE);

        wire_add_u64s(&b, PROTO_SAMPLE_LOCATION, ids + first, n - first);
        wire_add_u64(&b, PROTO_SAMPLE_VALUE, 1);
        wire_close(&b, mark);
    }
    p = decode(buf_str(&b));
    EXPECT(p && p->n_samples == n);
    for (size_t i = 0; p && i < n; i++)
        for (size_t k = p->loc_start[i]; k < p->loc_start[i + 1]; k++)
            EXPECT(p->stack[k] == i + k - p->loc_start[i]);
    profile_free(p);
    buf_release(&b);
}

TEST(a_mapping_that_does_not_exist_is_none)
{
    struct profile *p = decode_text_form("4{1=1 2=5} 4{1=2 2=0} " STRINGS);

    EXPECT(p->locations.v[0].mapping == NO_INDEX);
    EXPECT(p->locations.v[1].mapping == NO_INDEX);
    profile_free(p);
}

TEST(unsound_profiles_are_told_in_the_original_words)
{
    EXPECT_VERDICT("6: 2{}", DECODE_UNSOUND, "missing sample type information");
    EXPECT_VERDICT(TABLES "2{2=1 2=2}", DECODE_UNSOUND,
                   "mismatch: sample has 2 values vs. 1 types");
    EXPECT_VERDICT(TABLES "2{1=1}", DECODE_UNSOUND,
                   "mismatch: sample has 0 values vs. 1 types");
    EXPECT_VERDICT(TABLES "2{1=3 2=1}", DECODE_UNSOUND,
                   "sample has nil location");
    EXPECT_VERDICT(TABLES "2{1=0 2=1}", DECODE_UNSOUND,
                   "sample has nil location");
    EXPECT_VERDICT(TABLES "2{1[1 2 0 1 1 1 1] 2=1}", DECODE_UNSOUND,
                   "sample has nil location");
    EXPECT_VERDICT(STRINGS "3{}", DECODE_UNSOUND,
                   "found mapping with reserved ID=0");
    EXPECT_VERDICT(STRINGS "3{1=7} 3{1=7}", DECODE_UNSOUND,
                   "multiple mappings with same id: 7");
    EXPECT_VERDICT(STRINGS "5{}", DECODE_UNSOUND,
                   "found function with reserved ID=0");
    EXPECT_VERDICT(STRINGS "5{1=18446744073709551615} "
                           "5{1=18446744073709551615}",
                   DECODE_UNSOUND,
                   "multiple functions with same id: 18446744073709551615");
    EXPECT_VERDICT(STRINGS "4{}", DECODE_UNSOUND,
                   "found location with reserved id=0");
    EXPECT_VERDICT(STRINGS "4{1=1} 4{1=1}", DECODE_UNSOUND,
                   "multiple locations with same id: 1");
    EXPECT_VERDICT(STRINGS "4{1=3 4{}}", DECODE_UNSOUND,
                   "location id: 3 has a line with nil function");
}

TEST(the_first_broken_rule_is_told)
{
    /* samples in their order, values before locations */
    EXPECT_VERDICT(TABLES "2{1=3 2=1} 2{}", DECODE_UNSOUND,
                   "sample has nil location");
    EXPECT_VERDICT(TABLES "2{} 2{1=3 2=1}", DECODE_UNSOUND,
                   "mismatch: sample has 0 values vs. 1 types");
    EXPECT_VERDICT(TABLES "2{1=3}", DECODE_UNSOUND,
                   "mismatch: sample has 0 values vs. 1 types");
    /* samples, mappings, functions, locations */
    EXPECT_VERDICT(STRINGS "4{} 5{} 3{} 2{}", DECODE_UNSOUND,
                   "mismatch: sample has 0 values vs. 1 types");
    EXPECT_VERDICT(STRINGS "4{} 5{} 3{}", DECODE_UNSOUND,
                   "found mapping with reserved ID=0");
    EXPECT_VERDICT(STRINGS "4{} 5{}", DECODE_UNSOUND,
                   "found function with reserved ID=0");
    /* a mapping with id 0 is found by it, a function is not */
    EXPECT_VERDICT(STRINGS "3{} 4{1=1}", DECODE_UNSOUND,
                   "found mapping with reserved ID=0");
    /* and what is not protobuf is not judged */
    EXPECT_VERDICT(STRINGS "2{} 15=99", DECODE_NOT_PROTO, NULL);
}

TEST(more_types_than_bytes_of_samples_need_no_room_for_values)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    wire_add_bytes(&b, PROTO_STRING, STR(""));
    for (int i = 0; i < 200000; i++)
        wire_add_bytes(&b, PROTO_SAMPLE_TYPE, STR(""));
    for (int i = 0; i < 200000; i++)
        wire_add_bytes(&b, PROTO_SAMPLE, STR(""));
    EXPECT(!decode(buf_str(&b)) && verdict == DECODE_UNSOUND);
    EXPECT_STR(str_from(err.text),
               "mismatch: sample has 0 values vs. 200000 types");
    buf_release(&b);
}

TEST(concatenated_profiles_are_refused)
{
    EXPECT_VERDICT("6: 9=5 6: 9=6", DECODE_REFUSED,
                   "concatenated profiles detected");
    EXPECT_VERDICT("6: 9=5 9:x", DECODE_REFUSED,
                   "concatenated profiles detected");
    /* strings out of range are found later than that */
    EXPECT_VERDICT("6: 9=5 15=9 9=6", DECODE_REFUSED,
                   "concatenated profiles detected");
    /* malformed messages before, of any kind, are found earlier */
    EXPECT_VERDICT("6: 9=5 2{3{1*}} 9=6", DECODE_NOT_PROTO, NULL);
    EXPECT_VERDICT("6: 9=5 4{4{2:x}} 9=6", DECODE_NOT_PROTO, NULL);
    EXPECT_VERDICT("6: 9=5 2{1:\xff} 9=6", DECODE_NOT_PROTO, NULL);
    EXPECT_VERDICT("6: 9=5 5:\xff 9=6", DECODE_NOT_PROTO, NULL);
    /* but not behind */
    EXPECT_VERDICT("6: 9=5 9=6 15:x", DECODE_REFUSED, NULL);
}

TEST(a_second_time_is_fine_while_the_first_is_zero)
{
    struct profile *p = decode_text_form("6: 9=0 9=6");

    EXPECT(p && p->time_ns == 6);
    profile_free(p);
}

TEST(no_bytes_are_an_empty_file)
{
    EXPECT(!decode(STR("")) && verdict == DECODE_REFUSED);
    EXPECT_STR(str_from(err.text), "empty input file");
    EXPECT(!decode(str_of(NULL, 0)));
}

TEST(varints_have_at_most_ten_bytes)
{
    struct profile *p =
        decode(STR("\x32\0\x48\x81\x80\x80\x80\x80\x80\x80\x80\x80\x7f"));

    EXPECT(p && p->time_ns == INT64_MIN + 1); /* bits past the 64th are lost */
    profile_free(p);
    EXPECT(
        !decode(STR("\x32\0\x48\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\0")));
    EXPECT_STR(str_from(err.text), "byte 3: varint of more than 10 bytes");
    EXPECT(!decode(STR("\x32\0\x48\x81\x80")));
    EXPECT_STR(str_from(err.text), "byte 3: varint cut off");
    /* A tag may be longer than need be. */
    p = decode(STR("\xb2\x80\0\0\xc8\0\7"));
    EXPECT(p && p->time_ns == 7);
    profile_free(p);
}

TEST(what_is_cut_off_is_no_profile)
{
    EXPECT(!decode(STR("\x32\5abc")));
    EXPECT_STR(str_from(err.text), "byte 2: length beyond the end");
    EXPECT(!decode(STR("\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\1")));
    EXPECT(!decode(STR("\x32\0\xf9\x06"
                       "1234567")));
    EXPECT_STR(str_from(err.text), "byte 4: fixed-size value cut off");
    EXPECT(!decode(STR("\x32\0\xfb\x06")));
    EXPECT_STR(str_from(err.text), "byte 4: unknown wire type");
}

TEST(packed_ids_end_with_their_field)
{
    /* The last id runs into the value that follows, where there are bytes. */
    EXPECT(!decode(STR("\x32\0\x0a\0\x22\2\x08\1\x12\6\x0a\2\1\x81\x10\1"
                       "\x50\1\x50\1")));
    EXPECT(verdict == DECODE_NOT_PROTO);
    EXPECT_STR(str_from(err.text), "byte 13: sample: location: varint cut off");
}

TEST(no_piece_of_a_profile_makes_trouble)
{
    struct buf b =
        message("2{1[1 2 1 2 1] 2=5 3{1=4 2=5} 3{1=3 3=9}} " TABLES
                "7=1 8=1 9=1 10=1 11{1=1} 12=1 13=1 13=2 13[3 4] 14=1 15=1");
    size_t whole = 0;

    for (size_t n = 0; n <= b.len; n++) {
        char *copy = malloc(n ? n : 1); /* so that ASan sees its end */
        struct profile *p;

        memcpy(copy, b.data, n);
        p = decode(str_of(copy, n));
        whole += p != NULL;
        profile_free(p);
        free(copy);
    }
    /* Only cuts between the optional fields at the end leave a profile. */
    EXPECT(whole == 12);
    buf_release(&b);
}

static const char *limited(const char *text, struct profile_limits limits)
{
    struct buf b = message(text);
    struct profile *p = profile_decode(buf_str(&b), &limits, &verdict, &err);

    EXPECT(p || verdict == DECODE_REFUSED);
    if (p)
        error_set(&err, "within the limits");
    profile_free(p);
    buf_release(&b);
    return err.text;
}

TEST(limits_are_named_with_the_number)
{
    struct profile_limits limits = no_limits;
    const char *text = "2{1[1 2 1] 2=5} 2{2=1} " TABLES;

    limits.samples = 1;
    EXPECT_STR(str_from(limited(text, limits)), "2 samples, the limit is 1");
    limits.samples = 2;
    limits.string_bytes = 27;
    EXPECT_STR(str_from(limited(text, limits)),
               "28 bytes of strings, the limit is 27");
    limits.string_bytes = 28;
    limits.stack_depth = 2;
    EXPECT_STR(str_from(limited(text, limits)),
               "sample 0 has 3 frames, the limit is 2");
    limits.stack_depth = 3;
    EXPECT_STR(str_from(limited(text, limits)), "within the limits");
    for (limits.records = 1; limits.records < 6; limits.records++)
        EXPECT(strstr(limited(text, limits), "which is the limit"));
    EXPECT_STR(str_from(limited(text, limits)), "within the limits");
    text = "2{2=5 3{1=1 3=1} 3{1=1 3=1}} " TABLES;
    EXPECT_STR(str_from(limited(text, limits)),
               "more than 6 mappings, locations, lines, functions and labels, "
               "which is the limit");
    limits.records = 8;
    EXPECT_STR(str_from(limited(text, limits)), "within the limits");
}

TEST(errors_say_what_and_where)
{
    EXPECT_STR(str_from(fault_of("6: 3{1:x}")),
               "byte 4: mapping: field 1 has wire type 2");
    EXPECT_STR(str_from(fault_of("6: 2{1*}")),
               "byte 4: sample: field 1 has wire type 1");
    EXPECT_STR(str_from(fault_of("6: 4{1=1 4{1:x}}")),
               "byte 8: line: field 1 has wire type 2");
    EXPECT_STR(str_from(fault_of("6: 1=1")), "byte 2: field 1 has wire type 0");
}

TEST_MAIN
