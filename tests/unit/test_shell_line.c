#include "test.h"

#include "cmd/pprof/complete.h"
#include "cmd/pprof/shell_line.h"

static struct profile *make_profile(void)
{
    struct profile *p = profile_new();
    struct sample_builder b;
    static const char *const names[] = {"main.run", "main.(*T).f g", "malloc"};

    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("samples")), profile_intern(p, STR("count"))};
    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("cpu")), profile_intern(p, STR("nanoseconds"))};
    for (uint32_t i = 0; i < 3; i++)
        *vec_push(p->arena, &p->functions) = (struct function){
            .id = i + 1, .name = profile_intern(p, str_from(names[i]))};
    sample_builder_init(&b, p);
    sample_builder_label(&b,
                         (struct label){.key = profile_intern(p, STR("thread")),
                                        .str = profile_intern(p, STR("one")),
                                        .kind = LABEL_STRING});
    sample_builder_end(&b, (int64_t[]){1, 2});
    return p;
}

struct shell_case {
    struct arena *arena;
    struct profile *profile;
    struct report_config config;
    struct shell_command command;
    struct error err;
};

static void start(struct shell_case *s)
{
    s->arena = arena_new();
    s->profile = make_profile();
    config_init(&s->config);
}

static void end(struct shell_case *s)
{
    profile_free(s->profile);
    arena_free(s->arena);
}

static bool parse(struct shell_case *s, const char *line, bool pipes)
{
    return shell_parse(&s->config, s->arena, str_from(line), pipes, &s->command,
                       &s->err);
}

static bool assign(struct shell_case *s, const char *line, bool *is)
{
    return shell_assign(&s->config, s->arena, s->profile, str_from(line), is,
                        &s->err);
}

TEST(words_of_a_command_are_count_focus_ignore_order_and_file)
{
    struct shell_case s;

    start(&s);
    EXPECT(parse(&s, "  top 5 a b -c -d --cum >out", false));
    EXPECT_STR(str_from(s.command.command->name), "top");
    EXPECT(s.command.config.nodecount == 5);
    EXPECT_STR(s.command.config.focus, "a|b");
    EXPECT_STR(s.command.config.ignore, "c|d");
    EXPECT_STR(s.command.config.sort, "cum");
    EXPECT_STR(s.command.config.output, "out");
    EXPECT(s.config.nodecount == -1 && s.config.focus.n == 0);
    end(&s);
}

TEST(digits_at_the_end_of_a_command_are_its_count)
{
    struct shell_case s;

    start(&s);
    EXPECT(parse(&s, "top05 x", false));
    EXPECT(s.command.config.nodecount == 5);
    EXPECT(parse(&s, "peek1", false));
    EXPECT_STR(s.command.argument, "1");
    end(&s);
}

TEST(tags_are_filtered_by_tag)
{
    struct shell_case s;

    start(&s);
    EXPECT(parse(&s, "tags a -b", false));
    EXPECT_STR(s.command.config.tagfocus, "a");
    EXPECT_STR(s.command.config.tagignore, "b");
    EXPECT(s.command.config.focus.n == 0);
    end(&s);
}

TEST(a_pipe_takes_the_rest_of_the_line_where_pipes_are_on)
{
    struct shell_case s;

    start(&s);
    EXPECT(parse(&s, "top a|b | grep 'x  y' | head", true));
    EXPECT_STR(s.command.config.focus, "a|b");
    EXPECT_STR(s.command.pipe, "grep 'x  y' | head");
    EXPECT(parse(&s, "top |less", true));
    EXPECT_STR(s.command.pipe, "less");
    EXPECT(parse(&s, "top | less", false));
    EXPECT_STR(s.command.config.focus, "||less");
    EXPECT(s.command.pipe.n == 0);
    end(&s);
}

TEST(wrong_commands_are_told)
{
    static const char *const cases[][2] = {
        {"foo", "unrecognized command: \"foo\""},
        {"bogus=3", "unrecognized command: \"bogus=\""},
        {"10", "unrecognized command: \"10\""},
        {"focus foo", "did you mean: focus=foo"},
        {"focus10", "did you mean: focus=10"},
        {"peek", "command peek requires an argument"},
        {"top >", "unexpected end of line after >"},
    };
    struct shell_case s;

    start(&s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        EXPECT(!parse(&s, cases[i][0], false));
        EXPECT_STR(str_from(s.err.text), cases[i][1]);
    }
    end(&s);
}

TEST(assignments_lose_their_comment)
{
    struct shell_case s;
    bool is;

    start(&s);
    EXPECT(assign(&s, " focus = a//:b //: c ", &is) && is);
    EXPECT_STR(s.config.focus, "a//:b");
    EXPECT(assign(&s, "mean", &is) && is && s.config.mean);
    EXPECT(assign(&s, "top 5", &is) && !is);
    EXPECT(!assign(&s, "focus", &is) && is);
    EXPECT_STR(str_from(s.err.text),
               "please specify a value, e.g. focus=<val>");
    end(&s);
}

TEST(sample_index_is_kept_as_a_name)
{
    struct shell_case s;
    bool is;

    start(&s);
    EXPECT(assign(&s, "sample_index=0", &is));
    EXPECT_STR(s.config.sample_index, "samples");
    EXPECT(assign(&s, "sample_index=", &is));
    EXPECT_STR(s.config.sample_index, "cpu");
    EXPECT(!assign(&s, "sample_index=7", &is));
    EXPECT_STR(s.config.sample_index, "cpu");
    end(&s);
}

TEST(names_of_values_are_short_for_selecting_them)
{
    struct shell_case s;
    struct str lines[SHELL_LINES];

    start(&s);
    EXPECT(shell_expand(s.arena, s.profile, STR(" cpu "), lines) == 1);
    EXPECT_STR(lines[0], "sample_index=cpu");
    EXPECT(shell_expand(s.arena, s.profile, STR("mean_cpu"), lines) == 2);
    EXPECT_STR(lines[0], "mean=1");
    EXPECT(shell_expand(s.arena, s.profile, STR(":"), lines) == 5);
    EXPECT_STR(lines[4], "tagignore=");
    EXPECT(shell_expand(s.arena, s.profile, STR("top"), lines) == 1);
    EXPECT_STR(lines[0], "top");
    end(&s);
}

TEST(a_type_that_is_named_like_a_shortcut_wins)
{
    struct shell_case s;
    struct str lines[SHELL_LINES];

    start(&s);
    *vec_push(s.profile->arena, &s.profile->types) =
        (struct value_type){profile_intern(s.profile, STR("mean_cpu")), 0};
    EXPECT(shell_expand(s.arena, s.profile, STR("mean_cpu"), lines) == 1);
    EXPECT_STR(lines[0], "sample_index=mean_cpu");
    end(&s);
}

/* The candidates for a text, with blanks between them. */
static struct str complete(struct shell_case *s, const char *before)
{
    struct completer c = {.profile = s->profile, .arena = s->arena};
    struct line_completions out = {0};
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    complete_line(&c, s->arena, str_from(before), &out);
    buf_add(&b, str_first(str_from(before), out.start));
    for (size_t i = 0; i < out.words.n; i++)
        buf_addf(&b, "<%" STR_FMT ">", STR_ARG(out.words.v[i]));
    struct str found = arena_str(s->arena, buf_str(&b));
    buf_release(&b);
    return found;
}

TEST(the_first_word_is_completed_from_commands_and_options)
{
    struct shell_case s;

    start(&s);
    EXPECT_STR(complete(&s, "topp"), "<topproto >");
    EXPECT_STR(complete(&s, "TAGRO"), "<tagroot=>");
    EXPECT_STR(complete(&s, "  cp"), "  <cpu>");
    EXPECT_STR(complete(&s, "xyz"), "");
    EXPECT_STR(complete(&s, "help granu"), "help ");
    EXPECT_STR(complete(&s, "help addr"), "help <addresses >");
    end(&s);
}

TEST(values_are_completed_by_what_the_option_takes)
{
    struct shell_case s;

    start(&s);
    EXPECT_STR(complete(&s, "sort="), "sort=<cum><flat>");
    EXPECT_STR(complete(&s, "sample_index=s"), "sample_index=<samples>");
    EXPECT_STR(complete(&s, "mean=f"), "mean=<false>");
    EXPECT_STR(complete(&s, "tagroot=t"), "tagroot=<thread>");
    EXPECT_STR(complete(&s, "tagfocus=t"), "tagfocus=<thread=>");
    EXPECT_STR(complete(&s, "focus=lloc"), "focus=<malloc>");
    end(&s);
}

TEST(functions_are_completed_by_any_part_and_quoted)
{
    struct shell_case s;

    start(&s);
    EXPECT_STR(complete(&s, "top -lloc"), "top <-malloc>");
    EXPECT_STR(complete(&s, "peek T"), "peek <main.\\(\\*T\\).f.g>");
    EXPECT_STR(complete(&s, "peek \\(\\*T"), "peek <main.\\(\\*T\\).f.g>");
    EXPECT_STR(complete(&s, "top -cu"), "top <-cum >");
    end(&s);
}

TEST(what_candidates_share_is_typed_if_it_holds_the_users_text)
{
    struct str words[] = {STR("runtime.mapaccess"), STR("runtime.mapassign")};
    struct line_completions c = {.words = {.v = words, .n = 2}};
    struct str others[] = {STR("a.map"), STR("b.map")};
    struct line_completions d = {.words = {.v = others, .n = 2}};

    EXPECT_STR(line_common_start(&c, STR("map")), "runtime.mapa");
    EXPECT_STR(line_common_start(&c, STR("runtime.mapa")), "");
    EXPECT_STR(line_common_start(&d, STR("map")), "");
}

TEST_MAIN
