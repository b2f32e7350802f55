#include "test.h"

#include "report/format/ansi.h"
#include "report/report.h"
#include "sketch.h"

static void expect_flame(const char *text, struct report_request q,
                         const char *want)
{
    struct profile *p = sketch(text);
    struct buf out = BUF_INIT(BUF_NO_LIMIT), warnings = BUF_INIT(BUF_NO_LIMIT);
    struct report_config c;
    struct error err = {{0}};

    config_init(&c);
    q.format = REPORT_FLAME;
    q.config = &c;
    EXPECT(report_write(p, &q, &out, &warnings, &err));
    EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
    buf_release(&warnings);
    profile_free(p);
}

static struct report_request columns(int n)
{
    return (struct report_request){.columns = n};
}

TEST(frames_are_as_wide_as_their_share)
{
    expect_flame("types cpu/nanoseconds\n"
                 "duration 1000000000\n"
                 "map /bin/app 1000-5000\n"
                 "main;a;x 50\n"
                 "main;b 30\n"
                 "main 20\n",
                 columns(40),
                 "cpu of app: 100ns in 1s\n"
                 "▏main 100% 100ns                       ▕\n"
                 "▏a 50.0% 50ns      ▕▏b 30.0%   ▕\n"
                 "▏x 50.0% 50ns      ▕\n");
}

TEST(width_is_80_columns_when_there_is_no_terminal)
{
    expect_flame("types n/count\nmain 1\n", columns(0),
                 "n: 1\n"
                 "▏main 100% 1                                              "
                 "                     ▕\n");
}

TEST(names_are_shortened_before_they_are_cut)
{
    expect_flame("types n/count\n"
                 "example.org/long/path/pkg.Function 25\n"
                 "std::vector::push_back(int) 24\n"
                 "abcdefghijklmnopqrstuvwxyz 26\n"
                 "example.org/long/path/pkg.Serve.func1 25\n",
                 columns(60),
                 "n: 100\n"
                 "▏abcdefghijklm…▕▏pkg.Function ▕▏Serve.func1  ▕"
                 "▏push_back   ▕\n");
}

TEST(narrow_frames_are_put_together_visibly)
{
    expect_flame("types n/count\n"
                 "main;a 40\n"
                 "main;b 5\n"
                 "main;c 5\n"
                 "main;d 5\n"
                 "main;e 5\n"
                 "main;f;deep 5\n"
                 "main 35\n",
                 columns(40),
                 "n: 100\n"
                 "▏main 100% 100                         ▕\n"
                 "▏a 40.0% 40    ▕▏… 5 more▕\n"
                 "5 frames are too narrow to draw: a wider terminal or "
                 "-focus=REGEXP shows more.\n");
}

TEST(control_characters_stay_in_their_cell)
{
    struct profile *p = sketch("types n/count\nf 1\n");
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct report_config c;
    struct report_request q = {
        .format = REPORT_FLAME, .config = &c, .columns = 20};
    struct error err;

    config_init(&c);
    p->functions.v[0].name = profile_intern(p, STR("a\033[31m\nb"));
    EXPECT(report_write(p, &q, &out, &out, &err));
    EXPECT_STR(buf_str(&out), "n: 1\n▏a?[31m?b 100% 1   ▕\n");
    buf_release(&out);
    profile_free(p);
}

TEST(with_a_base_amounts_are_what_changed)
{
    expect_flame("types n/count\n"
                 "main;a -10 pprof::base=true\n"
                 "main;gone -20 pprof::base=true\n"
                 "main;a 30\n"
                 "main;b 10\n",
                 columns(40),
                 "n: 40 after, 30 before\n"
                 "▏main 100% +10                         ▕\n"
                 "▏a 75.0% +20                 ▕▏b 25.0% ▕\n"
                 "Widths are what is now, amounts what changed.\n"
                 "20 is in stacks that are gone; -explain names them.\n");
}

TEST(negative_stacks_are_counted_not_drawn)
{
    expect_flame("types n/count\nmain;a 5\nmain;b -3\n", columns(20),
                 "n: 5\n"
                 "▏main 62.5% 5      ▕\n"
                 "▏a 62.5% 5         ▕\n"
                 "-3 is in stacks with negative values, which cannot be "
                 "drawn.\n");
}

TEST(nothing_is_drawn_of_nothing)
{
    expect_flame("types n/count\nmain 0\n", columns(20), "n: 0\n");
}

TEST(colours_fill_frames_and_share_a_column_at_the_edge)
{
    /* A third of 20 columns ends inside the 14th. */
    expect_flame("types n/count\n"
                 "a -2 pprof::base=true\n"
                 "b -1 pprof::base=true\n"
                 "a 2\n"
                 "b 1\n",
                 (struct report_request){.columns = 20, .colour = true},
                 "n: 3 after, 3 before\n"
                 "\033[48;5;188m\033[38;5;102m▏\033[38;5;16ma 66.7% 0   "
                 "\033[0m"
                 "\033[38;5;188m\033[48;5;188m▍\033[0m"
                 "\033[48;5;188m\033[38;5;102m▏\033[38;5;16mb    \033[0m\n"
                 "Widths are what is now; red grew, blue shrank.\n");
}

TEST(colours_are_converted_from_hue)
{
    struct rgb red = rgb_from_hsl(0, 1, 0.5);
    struct rgb green = rgb_from_hsl(1.0 / 3, 1, 0.5);
    struct rgb grey = rgb_from_hsl(0.7, 0, 0.5);

    EXPECT(red.r == 255 && red.g == 0 && red.b == 0);
    EXPECT(green.r == 0 && green.g == 255 && green.b == 0);
    EXPECT(grey.r == 128 && grey.g == 128 && grey.b == 128);
}

TEST(true_colours_are_written_when_the_terminal_has_them)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);

    ansi_foreground(&(struct ansi){&b, true}, (struct rgb){1, 2, 3});
    ansi_background(&(struct ansi){&b, false}, (struct rgb){255, 0, 90});
    EXPECT_STR(buf_str(&b), "\033[38;2;1;2;3m\033[48;5;197m");
    buf_release(&b);
}

TEST_MAIN
