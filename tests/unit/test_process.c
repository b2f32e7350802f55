#include "test.h"

#include "base/process.h"

#define W(literal)                                                             \
    (char[])                                                                   \
    {                                                                          \
        literal                                                                \
    }

static struct error err;

TEST(a_filter_gets_its_input_and_gives_its_output)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);

    EXPECT(process_filter((char *[]){W("tr"), W("a-z"), W("A-Z"), NULL},
                          STR("hello"), &out, &err));
    EXPECT_STR(buf_str(&out), "HELLO");
    buf_release(&out);
}

TEST(more_than_a_pipe_holds_passes_through)
{
    size_t n = (size_t)4 << 20;
    struct buf in = BUF_INIT(BUF_NO_LIMIT), out = BUF_INIT(BUF_NO_LIMIT);

    buf_add_pad(&in, 'x', n);
    EXPECT(
        process_filter((char *[]){W("cat"), NULL}, buf_str(&in), &out, &err));
    EXPECT(out.len == n);
    buf_release(&in);
    buf_release(&out);
}

TEST(output_beyond_the_limit_ends_the_program)
{
    struct buf out = BUF_INIT(1000);

    EXPECT(!process_filter((char *[]){W("yes"), NULL}, STR(""), &out, &err));
    buf_release(&out);
}

TEST(failures_have_gos_words)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);

    EXPECT(!process_filter((char *[]){W("no-such-program"), NULL}, STR(""),
                           &out, &err));
    EXPECT_STR(str_from(err.text),
               "exec: \"no-such-program\": executable file not found in $PATH");
    EXPECT(
        !process_filter((char *[]){W("/no/such"), NULL}, STR(""), &out, &err));
    EXPECT_STR(str_from(err.text),
               "fork/exec /no/such: no such file or directory");
    EXPECT(!process_filter((char *[]){W("sh"), W("-c"), W("exit 7"), NULL},
                           STR(""), &out, &err));
    EXPECT_STR(str_from(err.text), "exit status 7");
    buf_release(&out);
}

TEST_MAIN
