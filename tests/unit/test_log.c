#include "test.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/log.h"

static struct buf lines;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(void *arg, struct str line)
{
    pthread_mutex_lock(&lock);
    buf_add(arg, line);
    pthread_mutex_unlock(&lock);
}

static void begin(void)
{
    lines = BUF_INIT(1 << 20);
    log_set_sink(keep, &lines);
    log_set_level(LOG_LEVEL_INFO);
}

static void end(void)
{
    log_set_sink(NULL, NULL);
    buf_release(&lines);
}

/* The lines without their times, which have this form. */
static void expect_lines(const char *want)
{
    struct buf got = BUF_INIT(1 << 20);
    struct str rest = buf_str(&lines), line;

    while (str_next_line(&rest, &line)) {
        struct str time = str_first(line, sizeof("2026-05-06T07:08:09.123Z"));

        EXPECT(time.n == 25 && time.s[10] == 'T' && time.s[19] == '.' &&
               time.s[23] == 'Z' && time.s[24] == ' ');
        buf_add(&got, str_skip(line, 25));
        buf_add_char(&got, '\n');
    }
    EXPECT_STR(buf_str(&got), want);
    buf_release(&got);
}

TEST(a_line_has_level_message_and_fields)
{
    struct error err;

    begin();
    error_set(&err, "open x: no such file");
    log_info("started");
    log_info("listening", log_text("address", "127.0.0.1:80"));
    log_warn("refused", log_str("who", STR("api")),
             log_u64("bytes", 18446744073709551615u), log_i64("delta", -5),
             log_ns("took", 1234567890), log_failure(&err));
    expect_lines("info started\n"
                 "info listening address=127.0.0.1:80\n"
                 "warn refused who=api bytes=18446744073709551615 delta=-5 "
                 "took=1.234s error=\"open x: no such file\"\n");
    end();
}

TEST(no_value_can_fake_a_line_or_a_key)
{
    begin();
    log_error("x", log_text("v", "a\nb"), log_text("w", "a=b"),
              log_text("q", "say \"hi\" \\"), log_text("none", ""),
              log_text("null", NULL), log_str("c", STR("\x01\x7f\t")),
              log_text("utf8", "grün"));
    expect_lines("error x v=\"a\\nb\" w=\"a=b\" q=\"say \\\"hi\\\" \\\\\" "
                 "none=\"\" null=\"\" c=\"\\x01\\x7f\\t\" utf8=grün\n");
    end();
}

static int evaluated;

static uint64_t count(void)
{
    return (uint64_t)++evaluated;
}

TEST(lines_below_the_level_are_left_out_and_cost_nothing)
{
    enum log_level level;

    begin();
    log_debug("hidden", log_u64("n", count()));
    EXPECT(evaluated == 0);
    EXPECT(log_level_parse(STR("debug"), &level));
    log_set_level(level);
    log_debug("shown", log_u64("n", count()));
    EXPECT(log_level_parse(STR("error"), &level));
    log_set_level(level);
    log_warn("hidden");
    log_error("shown");
    EXPECT(!log_level_parse(STR("loud"), &level));
    expect_lines("debug shown n=1\nerror shown\n");
    end();
}

TEST(a_long_line_is_cut_and_ends_in_a_newline)
{
    static char text[2 * LOG_LINE_MAX];

    begin();
    memset(text, 'x', sizeof(text));
    log_info("long", log_str("v", str_of(text, sizeof(text))), log_u64("n", 1));
    EXPECT(lines.len == LOG_LINE_MAX);
    EXPECT(lines.data[lines.len - 1] == '\n');
    EXPECT(str_find_char(buf_str(&lines), '\n') == LOG_LINE_MAX - 1);
    end();
}

static void *log_many(void *arg)
{
    for (uint64_t i = 0; i < 1000; i++)
        log_info("tick", log_text("thread", arg), log_u64("i", i));
    return NULL;
}

TEST(lines_of_several_threads_do_not_mix)
{
    char names[][2] = {"a", "b", "c", "d"};
    struct str rest, line;
    pthread_t threads[4];
    size_t n = 0;

    begin();
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, log_many, names[i]);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    rest = buf_str(&lines);
    while (str_next_line(&rest, &line)) {
        EXPECT(str_has_prefix(str_skip(line, 25), STR("info tick thread=")));
        n++;
    }
    EXPECT(n == 4000);
    end();
}

TEST_MAIN
