/*
 * Names of generated code: perf maps and jitdumps, and what their names mean.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/jit_map.h"
#include "elf/jit_name.h"
#include "test.h"

static struct jit_map map_of(struct str text)
{
    struct jit_map m;

    jit_map_init(&m);
    EXPECT(jit_map_add_text(&m, text));
    EXPECT(jit_map_finish(&m));
    return m;
}

static struct str name_at(const struct jit_map *m, uint64_t address)
{
    struct jit_code code;

    return jit_map_find(m, address, &code) ? code.name : STR("");
}

TEST(a_perf_map_names_all_addresses_of_its_functions)
{
    struct jit_map m = map_of(STR("1000 10 first\n"
                                  "0x2000 0x20 java.lang.String A.b(int)\n"));

    EXPECT_STR(name_at(&m, 0x0fff), "");
    EXPECT_STR(name_at(&m, 0x1000), "first");
    EXPECT_STR(name_at(&m, 0x100f), "first");
    EXPECT_STR(name_at(&m, 0x1010), "");
    EXPECT_STR(name_at(&m, 0x201f), "java.lang.String A.b(int)");
    EXPECT_STR(name_at(&m, 0x2020), "");
    jit_map_release(&m);
}

TEST(lines_without_sense_and_unfinished_ones_are_skipped)
{
    struct jit_map m = map_of(STR("nonsense\n"
                                  "1000\n"
                                  "zz 10 bad\n"
                                  "1000 0 empty\n"
                                  "ffffffffffffffff 10 over\n"
                                  "3000 10 \n"
                                  "2000 10 good\n"
                                  "4000 10 still being wri"));

    EXPECT(m.codes.n == 1);
    EXPECT_STR(name_at(&m, 0x2008), "good");
    jit_map_release(&m);
}

TEST(code_that_is_written_later_replaces_what_was_there)
{
    struct jit_map m = map_of(STR("1000 100 old\n"
                                  "1040 20 inside\n"
                                  "10f0 20 over_the_end\n"
                                  "1000 10 new_head\n"));

    EXPECT_STR(name_at(&m, 0x1000), "new_head");
    EXPECT_STR(name_at(&m, 0x1010), "old");
    EXPECT_STR(name_at(&m, 0x1040), "inside");
    EXPECT_STR(name_at(&m, 0x1060), "old");
    EXPECT_STR(name_at(&m, 0x10ef), "old");
    EXPECT_STR(name_at(&m, 0x10f0), "over_the_end");
    EXPECT_STR(name_at(&m, 0x110f), "over_the_end");
    jit_map_release(&m);
}

/* Against the plain way: the last line that covers the address. */
TEST(random_maps_are_painted_as_written)
{
    struct {
        uint64_t start, size;
    } all[200];
    uint64_t seed = (uint64_t)getpid();
    size_t wrong = 0;
    struct jit_map m;
    char name[16];

    printf("# seed %llu\n", (unsigned long long)seed);
    jit_map_init(&m);
    for (size_t i = 0; i < 200; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        all[i].start = seed >> 33 & 0x3ff;
        all[i].size = 1 + (seed >> 50 & 0x3f);
        snprintf(name, sizeof(name), "%zu", i);
        EXPECT(jit_map_add(&m, all[i].start, all[i].size, str_from(name)));
    }
    EXPECT(jit_map_finish(&m));
    for (uint64_t a = 0; a < 0x480; a++) {
        name[0] = '\0';
        for (size_t i = 0; i < 200; i++)
            if (a - all[i].start < all[i].size)
                snprintf(name, sizeof(name), "%zu", i);
        wrong += !str_eq(name_at(&m, a), str_from(name));
    }
    EXPECT(wrong == 0);
    jit_map_release(&m);
}

/* --- dumps --------------------------------------------------------------- */

struct dump {
    uint8_t bytes[1024];
    size_t n;
};

static void put(struct dump *d, uint64_t value, size_t n)
{
    memcpy(d->bytes + d->n, &value, n);
    d->n += n;
}

static void put_header(struct dump *d, uint32_t pid)
{
    put(d, 0x4a695444, 4);
    put(d, 1, 4);
    put(d, 40, 4);
    put(d, 62, 8);
    put(d, pid, 4);
    put(d, 0, 8); /* time */
    put(d, 0, 8); /* flags */
}

static void put_load(struct dump *d, uint64_t at, uint64_t size,
                     const char *name)
{
    size_t name_n = strlen(name) + 1;

    put(d, 0, 4);
    put(d, 16 + 40 + name_n + size, 4);
    put(d, 0, 8);
    put(d, 7, 4);
    put(d, 7, 4);
    put(d, at, 8);
    put(d, at, 8);
    put(d, size, 8);
    put(d, 1, 8);
    memcpy(d->bytes + d->n, name, name_n);
    d->n += name_n;
    memset(d->bytes + d->n, 0x90, size);
    d->n += size;
}

static void put_move(struct dump *d, uint64_t from, uint64_t to, uint64_t size)
{
    put(d, 1, 4);
    put(d, 16 + 48, 4);
    put(d, 0, 8);
    put(d, 7, 4);
    put(d, 7, 4);
    put(d, 0, 8);
    put(d, from, 8);
    put(d, to, 8);
    put(d, size, 8);
    put(d, 1, 8);
}

static struct dump sample_dump(void)
{
    struct dump d = {.n = 0};

    put_header(&d, 7);
    put_load(&d, 0x1000, 16, "JS:*a /x.js:1:2");
    put(&d, 4, 4); /* a record of another kind */
    put(&d, 24, 4);
    put(&d, 0, 8);
    put(&d, 0, 8);
    put_load(&d, 0x2000, 32, "b");
    put_move(&d, 0x2000, 0x3000, 32);
    return d;
}

TEST(a_dump_has_code_that_was_loaded_and_moved)
{
    struct dump d = sample_dump();
    struct elf_source file = {d.bytes, d.n, -1};
    struct jit_map m;

    jit_map_init(&m);
    EXPECT(jit_map_add_dump(&m, &file, 7) && jit_map_finish(&m));
    EXPECT_STR(name_at(&m, 0x100f), "JS:*a /x.js:1:2");
    EXPECT_STR(name_at(&m, 0x2000), "b");
    EXPECT_STR(name_at(&m, 0x301f), "b");
    EXPECT_STR(name_at(&m, 0x3020), "");
    jit_map_release(&m);
}

TEST(a_dump_of_another_process_is_refused)
{
    struct dump d = sample_dump();
    struct elf_source file = {d.bytes, d.n, -1};
    struct jit_map m;

    jit_map_init(&m);
    EXPECT(!jit_map_add_dump(&m, &file, 8) && m.codes.n == 0);
    d.bytes[0] ^= 1;
    EXPECT(!jit_map_add_dump(&m, &file, 7));
    jit_map_release(&m);
}

TEST(a_dump_cut_anywhere_is_survived)
{
    struct dump d = sample_dump();

    for (size_t n = 0; n <= d.n; n++) {
        uint8_t *exact = malloc(n ? n : 1);
        struct elf_source file = {exact, n, -1};
        struct jit_map m;

        memcpy(exact, d.bytes, n);
        jit_map_init(&m);
        EXPECT(jit_map_add_dump(&m, &file, 7) == (n >= 40));
        EXPECT(jit_map_finish(&m));
        jit_map_release(&m);
        free(exact);
    }
}

/* --- files --------------------------------------------------------------- */

static void write_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    EXPECT(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

TEST(both_files_of_a_process_are_read_and_links_are_not)
{
    char dir[] = "/tmp/pprof-jit-XXXXXX", map[64], dump[64], link[64];
    struct dump d = sample_dump();
    struct jit_map m;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(map, sizeof(map), "%s/perf-7.map", dir);
    snprintf(dump, sizeof(dump), "%s/jit-7.dump", dir);
    snprintf(link, sizeof(link), "%s/perf-8.map", dir);
    jit_map_init(&m);
    EXPECT(!jit_map_read(&m, dir, 7, NULL));
    write_file(map, "5000 8 text\n", 12);
    write_file(dump, d.bytes, d.n);
    EXPECT(symlink(map, link) == 0);
    EXPECT(!jit_map_read(&m, dir, 8, NULL));
    EXPECT(jit_map_read(&m, dir, 7, NULL) && jit_map_finish(&m));
    EXPECT_STR(name_at(&m, 0x5001), "text");
    EXPECT_STR(name_at(&m, 0x2001), "b");
    EXPECT(jit_is_dump_path(str_from(dump), 7));
    EXPECT(!jit_is_dump_path(str_from(dump), 70));
    EXPECT(!jit_is_dump_path(str_from(map), 7));
    jit_map_release(&m);
    unlink(map);
    unlink(dump);
    unlink(link);
    rmdir(dir);
}

/* --- names --------------------------------------------------------------- */

static void expect_name(const char *raw, const char *function, const char *file,
                        int64_t line)
{
    struct jit_name n = jit_name_parse(str_from(raw));

    EXPECT_STR(n.function, function);
    EXPECT_STR(n.file, file);
    EXPECT(n.line == line);
}

TEST(a_function_of_v8_has_one_name_however_it_is_compiled)
{
    expect_name("JS:*render /app/view.js:12:8", "render", "/app/view.js", 12);
    expect_name("JS:~render /app/view.js:12:8", "render", "/app/view.js", 12);
    expect_name("LazyCompile:^get size node:internal/url:7:3", "get size",
                "node:internal/url", 7);
    expect_name("JS:*render file:///app/view.mjs:1:1", "render",
                "file:///app/view.mjs", 1);
}

TEST(a_function_without_a_name_is_called_by_its_place)
{
    expect_name("JS:* /app/view.js:2:103", "/app/view.js:2:103", "/app/view.js",
                2);
    expect_name("Eval:~ /app/view.js:1:1", "/app/view.js:1:1", "/app/view.js",
                1);
}

TEST(a_function_of_cpython_has_its_file)
{
    expect_name("py::render:/app/view.py", "render", "/app/view.py", 0);
    expect_name("py::A.run.<locals>.<lambda>:<string>",
                "A.run.<locals>.<lambda>", "<string>", 0);
}

TEST(other_names_stay_as_they_are)
{
    const char *const names[] = {"int W.leafHash(int)",
                                 "Builtin:ArrayMap",
                                 "JIT$leafHash",
                                 "Interpreter",
                                 "py::",
                                 "JS:",
                                 "main",
                                 "py::x",
                                 "JS:*",
                                 "JS:*x 1:2"};
    const char *const want[] = {"int W.leafHash(int)",
                                "Builtin:ArrayMap",
                                "JIT$leafHash",
                                "Interpreter",
                                "py::",
                                "JS:",
                                "main",
                                "x",
                                "*",
                                "x 1:2"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect_name(names[i], want[i], "", 0);
}

TEST_MAIN
