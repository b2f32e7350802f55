#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/code/source_files.h"
#include "report/report.h"
#include "sketch.h"

/*
 * Source listings.  Every test works in a new directory with a file `f.c` of
 * twelve lines "line1" …, in a subdirectory `proj`.
 */
static char *work_dir;

static void write_file(const char *name, const char *text)
{
    struct error err;

    EXPECT(file_write(name, str_from(text), &err));
}

static void enter_directory(void)
{
    char template[] = "/tmp/test-list-XXXXXX";
    struct buf text = BUF_INIT(BUF_NO_LIMIT);

    EXPECT(mkdtemp(template) != NULL);
    EXPECT(chdir(template) == 0);
    EXPECT(mkdir("proj", 0777) == 0);
    for (int i = 1; i <= 12; i++)
        buf_addf(&text, "line%d\n", i);
    write_file("proj/f.c", buf_cstr(&text));
    buf_release(&text);
    work_dir = get_current_dir_name();
    unsetenv("GOROOT");
    unsetenv("GOMODCACHE");
    unsetenv("GOPATH");
    setenv("HOME", "/nonexistent", 1);
}

static void leave_directory(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", work_dir);
    EXPECT(chdir("/") == 0);
    EXPECT(system(command) == 0);
    free(work_dir);
}

static bool list(struct profile *p, const char *regexp, struct str source_path,
                 struct buf *out, struct error *err)
{
    struct buf warnings = BUF_INIT(BUF_NO_LIMIT);
    struct report_config c;
    struct report_request q = {
        .format = REPORT_LIST, .argument = str_from(regexp), .config = &c};
    bool ok;

    config_init(&c);
    c.source_path = source_path;
    ok = report_write(p, &q, out, &warnings, err);
    buf_release(&warnings);
    profile_free(p);
    return ok;
}

TEST(list_shows_costs_beside_source_lines)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    enter_directory();
    EXPECT(list(sketch("types n/count\n"
                       "main@m.c:3;work@f.c:7 5\n"
                       "main@m.c:3;work@f.c:9;leaf@g.c:1 4\n"),
                "^work$", STR("proj"), &out, &err));
    EXPECT_STR(buf_str(&out),
               "Total: 9\n"
               "ROUTINE ======================== work in f.c\n"
               "         5          9 (flat, cum)   100% of Total\n"
               "         .          .      2:line2\n"
               "         .          .      3:line3\n"
               "         .          .      4:line4\n"
               "         .          .      5:line5\n"
               "         .          .      6:line6\n"
               "         5          5      7:line7\n"
               "         .          .      8:line8\n"
               "         .          4      9:line9\n"
               "         .          .     10:line10\n"
               "         .          .     11:line11\n"
               "         .          .     12:line12\n");
    buf_release(&out);
    leave_directory();
}

TEST(list_starts_where_the_function_starts)
{
    struct profile *p = sketch("types n/count\nwork@f.c:11 5\n");
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    enter_directory();
    p->functions.v[0].start_line = 10;
    EXPECT(list(p, "work", STR("proj"), &out, &err));
    EXPECT_STR(buf_str(&out), "Total: 5\n"
                              "ROUTINE ======================== work in f.c\n"
                              "         5          5 (flat, cum)   100% of "
                              "Total\n"
                              "         .          .     10:line10\n"
                              "         5          5     11:line11\n"
                              "         .          .     12:line12\n");
    buf_release(&out);
    leave_directory();
}

TEST(list_opens_no_file_of_which_no_line_is_wanted)
{
    struct profile *p = sketch("types n/count\nwork@/no/a.c:1 5\n");
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    enter_directory();
    p->functions.v[0].start_line = 7;
    EXPECT(list(p, "work", STR("proj"), &out, &err));
    EXPECT_STR(buf_str(&out),
               "Total: 5\n"
               "ROUTINE ======================== work in /no/a.c\n"
               "         5          5 (flat, cum)   100% of Total\n");
    buf_release(&out);
    leave_directory();
}

TEST(list_says_what_it_cannot_show)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    enter_directory();
    EXPECT(list(sketch("types n/count\n"
                       "a@/no/a.c:7 1\n"
                       "b@b.c:7 1\n"
                       "c 1\n"),
                ".", STR("/x:/y"), &out, &err));
    EXPECT_STR(buf_str(&out),
               "Total: 3\n"
               "ROUTINE ======================== a in /no/a.c\n"
               "         1          1 (flat, cum) 33.33% of Total\n"
               " Error: open /no/a.c: no such file or directory\n"
               "ROUTINE ======================== b in b.c\n"
               "         1          1 (flat, cum) 33.33% of Total\n"
               " Error: could not find file b.c on path /x:/y\n"
               "No source information for c\n");
    buf_release(&out);
    leave_directory();
}

TEST(list_without_a_match_is_an_error)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    EXPECT(!list(sketch("types n/count\na 1\n"), "zz", STR(""), &out, &err));
    EXPECT_STR(str_from(err.text), "no matches found for regexp: zz");
    buf_release(&out);
}

/* The second line of a file found by name, or the reason why not. */
static void expect_source(struct str path, struct str trim, const char *name,
                          const char *want)
{
    struct arena *a = arena_new();
    const struct source_file *f;
    struct source_files s;
    struct str line;

    source_files_init(&s, a, path, trim);
    f = source_files_get(&s, str_from(name));
    EXPECT_STR(source_line(f, 2, &line) ? line : f->error, want);
    EXPECT(source_files_get(&s, str_from(name)) == f);
    arena_free(a);
}

TEST(sources_are_found_below_the_path_and_its_parents)
{
    enter_directory();
    expect_source(STR("/x:proj"), STR(""), "f.c", "line2");
    EXPECT(mkdir("proj/deep", 0777) == 0);
    expect_source(STR("proj/deep"), STR(""), "f.c", "line2");
    expect_source(STR(""), STR(""), "proj/f.c", "line2");
    leave_directory();
}

TEST(sources_of_another_machine_are_found_by_the_name_of_the_project)
{
    enter_directory();
    expect_source(STR("proj"), STR(""), "/build/bot/proj/f.c", "line2");
    expect_source(STR("proj"), STR("/build/bot"), "/build/bot/f.c", "line2");
    leave_directory();
}

TEST(go_sources_are_found_without_any_option)
{
    enter_directory();
    EXPECT(mkdir("root", 0777) == 0 && mkdir("root/src", 0777) == 0);
    write_file("root/src/lib.go", "package lib\nlibrary\n");
    setenv("GOROOT", "root", 1);
    expect_source(STR("/x"), STR(""), "/usr/local/go/src/lib.go", "library");
    expect_source(STR("/x"), STR(""), "lib.go", "library"); /* -trimpath */

    unsetenv("GOROOT");
    EXPECT(mkdir("root/bin", 0777) == 0 && mkdir("bin", 0777) == 0);
    write_file("root/bin/go", "");
    EXPECT(symlink("../root/bin/go", "bin/go") == 0);
    setenv("PATH", "/nonexistent:bin", 1);
    expect_source(STR("/x"), STR(""), "lib.go", "library");
    setenv("PATH", "/bin:/usr/bin", 1);

    EXPECT(mkdir("mod", 0777) == 0 && mkdir("mod/!me", 0777) == 0);
    EXPECT(mkdir("mod/!me/pkg@v1.2.0", 0777) == 0);
    write_file("mod/!me/pkg@v1.2.0/Go.go", "package pkg\nmodule\n");
    setenv("GOMODCACHE", "mod", 1);
    expect_source(STR("/x"), STR(""), "Me/pkg@v1.2.0/Go.go", "module");
    expect_source(STR("/x"), STR(""),
                  "/home/ci/go/pkg/mod/!me/pkg@v1.2.0/Go.go", "module");
    leave_directory();
}

TEST(lines_lose_their_ends_and_stop_at_what_is_no_text)
{
    struct buf text = BUF_INIT(BUF_NO_LIMIT);

    enter_directory();
    write_file("crlf", "a\r\nb\r\n");
    expect_source(STR("."), STR(""), "crlf", "b");
    buf_add(&text, STR("a\n"));
    buf_add_pad(&text, 'x', 65536);
    write_file("long", buf_cstr(&text));
    expect_source(STR("."), STR(""), "long", "");
    expect_source(STR("."), STR(""), "proj", ""); /* a directory */
    buf_release(&text);
    leave_directory();
}

TEST_MAIN
