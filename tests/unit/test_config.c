#include "test.h"

#include "report/config.h"

struct setting {
    struct arena *arena;
    struct report_config config;
    struct error err;
};

static void start(struct setting *s)
{
    s->arena = arena_new();
    config_init(&s->config);
}

static bool set(struct setting *s, const char *name, const char *value)
{
    return config_set_name(&s->config, s->arena, str_from(name),
                           str_from(value), &s->err);
}

#define EXPECT_REFUSED(name, value, words)                                     \
    do {                                                                       \
        EXPECT(!set(&s, name, value));                                         \
        EXPECT_STR(str_from(s.err.text), words);                               \
    } while (0)

TEST(every_option_has_help_and_is_found_by_its_name)
{
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];

        EXPECT(config_find(str_from(f->name)) == f);
        EXPECT(f->choices || config_help(str_from(f->name)).n > 0);
        for (size_t j = 0; f->choices && f->choices[j]; j++) {
            EXPECT(config_find(str_from(f->choices[j])) == f);
            EXPECT(config_help(str_from(f->choices[j])).n > 0);
        }
    }
}

TEST(what_was_got_can_be_set)
{
    struct setting s, other;

    start(&s);
    start(&other);
    set(&s, "nodefraction", "1e-05");
    set(&s, "nodecount", "-7");
    set(&s, "mean", "y");
    set(&s, "focus", "a b");
    for (size_t i = 0; i < config_n_fields; i++) {
        struct buf a = BUF_INIT(BUF_NO_LIMIT), b = BUF_INIT(BUF_NO_LIMIT);
        const struct config_field *f = &config_fields[i];

        config_get(&s.config, f, &a);
        if (!f->choices || a.len)
            EXPECT(config_set(&other.config, other.arena, f, buf_str(&a),
                              &other.err));
        config_get(&other.config, f, &b);
        EXPECT(str_eq(buf_str(&a), buf_str(&b)));
        buf_release(&a);
        buf_release(&b);
    }
    arena_free(s.arena);
    arena_free(other.arena);
}

TEST(booleans_have_many_spellings)
{
    struct setting s;

    start(&s);
    EXPECT(set(&s, "mean", "YES") && s.config.mean);
    EXPECT(set(&s, "mean", "N") && !s.config.mean);
    EXPECT(set(&s, "mean", "") && s.config.mean);
    EXPECT_REFUSED("mean", "maybe",
                   "illegal value \"maybe\" for bool variable");
    EXPECT(s.config.mean);
    arena_free(s.arena);
}

TEST(a_choice_is_set_by_its_group_or_by_being_true)
{
    struct setting s;

    start(&s);
    EXPECT(set(&s, "sort", "cum"));
    EXPECT_STR(s.config.sort, "cum");
    EXPECT(set(&s, "lines", "1"));
    EXPECT_STR(s.config.granularity, "lines");
    EXPECT_REFUSED("lines", "", "unknown config field \"lines\"");
    EXPECT_REFUSED("cum", "false", "unknown config field \"cum\"");
    EXPECT_REFUSED("sort", "x", "invalid \"sort\" value \"x\"");
    arena_free(s.arena);
}

TEST(bad_numbers_are_told_as_go_tells_them)
{
    struct setting s;

    start(&s);
    EXPECT_REFUSED("nodecount", "0x1",
                   "strconv.Atoi: parsing \"0x1\": invalid syntax");
    EXPECT_REFUSED("nodecount", "99999999999999999999",
                   "strconv.Atoi: parsing \"99999999999999999999\": value out "
                   "of range");
    EXPECT_REFUSED("divide_by", "",
                   "strconv.ParseFloat: parsing \"\": invalid syntax");
    EXPECT_REFUSED("edgefraction", "1e999",
                   "strconv.ParseFloat: parsing \"1e999\": value out of range");
    EXPECT(s.config.nodecount == -1 && s.config.divide_by == 1 &&
           s.config.edgefraction == 0.001);
    arena_free(s.arena);
}

TEST(words_of_a_query_set_options)
{
    struct setting s;

    start(&s);
    EXPECT(config_set_param(&s.config, s.arena, STR("f"), STR("x"), &s.err));
    EXPECT_STR(s.config.focus, "x");
    EXPECT(config_set_param(&s.config, s.arena, STR("f"), STR(""), &s.err));
    EXPECT_STR(s.config.focus, "x");
    EXPECT(config_set_param(&s.config, s.arena, STR("zz"), STR("1"), &s.err));
    EXPECT(!config_set_param(&s.config, s.arena, STR("n"), STR("x"), &s.err));
    EXPECT_STR(str_from(s.err.text),
               "error setting config field nodecount: strconv.Atoi: parsing "
               "\"x\": invalid syntax");
    arena_free(s.arena);
}

TEST_MAIN
