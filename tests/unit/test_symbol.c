/*
 * Names and lines from small binaries: the seeds of the fuzz target.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/symbols.h"
#include "symbol/object.h"
#include "symbol/symbol_table.h"
#include "test.h"

#define SEED(name) PPROF_SEEDS "/dwarf/" name

struct answer {
    struct str frames[8];
    char text[4096];
};

/* "function file:line < caller file:line" */
static void take(void *arg, size_t index, const struct symbol_frame *frames,
                 size_t n)
{
    struct answer *a = arg;
    size_t used = 0;

    (void)index;
    for (size_t i = 0; i < n; i++) {
        struct str file = frames[i].file;
        ptrdiff_t slash = str_rfind_char(file, '/');

        file = str_skip(file, (size_t)(slash + 1));
        used += (size_t)snprintf(a->text + used, sizeof(a->text) - used,
                                 "%s%" STR_FMT " %" STR_FMT ":%d",
                                 i ? " < " : "", STR_ARG(frames[i].function),
                                 STR_ARG(file), (int)frames[i].line);
    }
}

static const char *at(const char *path, uint64_t address, struct answer *a)
{
    struct error err = {{0}};
    struct object *o =
        object_open(path, (struct object_mapping){.limit = UINT64_MAX}, &err);

    a->text[0] = '\0';
    if (!o || !object_resolve(o, &address, 1, false, take, a, &err))
        snprintf(a->text, sizeof(a->text), "%s", err.text);
    object_free(o);
    return a->text;
}

static void expect_go(const char *path)
{
    struct answer a;

    EXPECT_STR(str_from(at(path, 0x1000, &a)), "main.f main.go:10");
    EXPECT_STR(str_from(at(path, 0x1009, &a)), "main.f main.go:12");
    EXPECT_STR(str_from(at(path, 0x1011, &a)), "main.f other.go:99");
    EXPECT_STR(str_from(at(path, 0x103f, &a)), "main.g other.go:30");
    EXPECT_STR(str_from(at(path, 0x1040, &a)), "");
    EXPECT_STR(str_from(at(path, 0xfff, &a)), "");
}

TEST(the_table_of_go_1_2_gives_functions_and_lines)
{
    expect_go(SEED("go-1.2"));
}

TEST(the_table_of_go_1_16_gives_functions_and_lines)
{
    expect_go(SEED("go-1.16"));
}

TEST(the_table_of_go_1_18_gives_functions_and_lines)
{
    expect_go(SEED("go-1.18"));
}

TEST(the_table_of_go_1_20_gives_functions_and_lines)
{
    expect_go(SEED("go-1.20"));
}

/* Where the function g starts. */
static uint64_t address_of(const char *path, const char *name)
{
    struct error err;
    size_t n;
    uint64_t found = 0;
    struct object *o =
        object_open(path, (struct object_mapping){.limit = UINT64_MAX}, &err);
    const struct object_symbol *v = object_symbols(o, &n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].name, str_from(name)))
            found = v[i].address;
    object_free(o);
    return found;
}

static void expect_inlined(const char *path)
{
    struct answer a;
    uint64_t g = address_of(path, "g");
    bool inlined = false;

    EXPECT(g != 0);
    EXPECT_STR(str_from(at(path, g, &a)), "g s.c:5");
    for (uint64_t pc = g; pc < g + 64; pc++)
        inlined |=
            strcmp(at(path, pc, &a), "twice s.c:2 < four s.c:3 < g s.c:5") == 0;
    EXPECT(inlined);
}

TEST(lines_and_inlined_calls_of_every_version)
{
    expect_inlined(SEED("gcc-dwarf-3.so"));
    expect_inlined(SEED("gcc-dwarf-4.so"));
    expect_inlined(SEED("gcc-dwarf-5.so"));
    expect_inlined(SEED("dwarf-64-bits.so"));
    expect_inlined(SEED("compressed.so"));
}

TEST(a_file_of_32_bits)
{
    struct answer a;
    uint64_t g = address_of(SEED("bits-32.so"), "g");

    EXPECT_STR(str_from(at(SEED("bits-32.so"), g, &a)), "g s.c:5");
}

TEST(packed_symbols_give_names)
{
    struct answer a;
    uint64_t g = address_of(SEED("packed-symbols"), "g");

    EXPECT(g != 0);
    EXPECT_STR(str_from(at(SEED("packed-symbols"), g, &a)), "g :0");
}

/* A copy of a seed in memory, cut to n bytes. */
static int copy_of(const char *path, size_t n, char name[64])
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct error err;
    int fd = memfd_create("copy", MFD_CLOEXEC);

    EXPECT(file_read(path, &bytes, &err));
    if (n > bytes.len)
        n = bytes.len;
    EXPECT(write(fd, bytes.data, n) == (ssize_t)n);
    buf_release(&bytes);
    snprintf(name, 64, "/proc/self/fd/%d", fd);
    return fd;
}

TEST(a_file_cut_short_anywhere_is_no_crash)
{
    static const char *const seeds[] = {
        SEED("gcc-dwarf-5.so"), SEED("gcc-dwarf-4.so"), SEED("compressed.so"),
        SEED("go-1.18"),        SEED("packed-symbols"),
    };
    char name[64];

    for (size_t s = 0; s < sizeof(seeds) / sizeof(*seeds); s++)
        for (size_t n = 0; n < 8192; n += 61) {
            struct answer a;
            int fd = copy_of(seeds[s], n, name);

            at(name, 0x1010, &a);
            close(fd);
        }
}

static void count(void *arg, size_t index, const struct symbol_frame *frames,
                  size_t n)
{
    (void)index, (void)frames, (void)n;
    ++*(int *)arg;
}

TEST(a_file_that_shrinks_while_it_is_open_is_no_crash)
{
    struct error err;
    char name[64];
    int fd = copy_of(SEED("gcc-dwarf-5.so"), SIZE_MAX, name), found = 0;
    struct object *o =
        object_open(name, (struct object_mapping){.limit = UINT64_MAX}, &err);
    uint64_t g = address_of(SEED("gcc-dwarf-5.so"), "g");

    EXPECT(o != NULL);
    EXPECT(ftruncate(fd, 64) == 0);
    EXPECT(object_resolve(o, &g, 1, false, count, &found, &err));
    EXPECT(found == 0);
    object_free(o);
    close(fd);
}

/* The endpoint names addresses by elf/symbols.h, pprof by symbol_table.h. */
static void expect_same_names(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct arena *a = arena_new();
    struct elf_symbols mine;
    struct symbol_table table;
    struct elf_file elf;
    const struct elf_symbol *v;
    size_t different = 0;

    if (fd < 0 || !elf_symbols_from_fd(&mine, fd, NULL, 0) ||
        !elf_file_open(&elf, fd)) {
        EXPECT(!"a readable file");
        return;
    }
    EXPECT(symbol_table_read(&table, a, &elf, SHT_SYMTAB) ||
           symbol_table_read(&table, a, &elf, SHT_DYNSYM));
    v = mine.v.p;
    for (size_t i = 0; i < mine.v.n; i++) {
        const struct symbol_entry *other =
            symbol_table_find(&table, v[i].vaddr);
        struct str name = elf_symbol_name(&mine, &v[i]);

        if (other && other->is_code &&
            !str_eq(symbol_table_name(&table, other), name) && different++ < 3)
            printf("# %s: %#llx is %" STR_FMT " and %" STR_FMT "\n", path,
                   (unsigned long long)v[i].vaddr, STR_ARG(name),
                   STR_ARG(symbol_table_name(&table, other)));
    }
    EXPECT(mine.v.n > 10 && different == 0);
    symbol_table_release(&table);
    elf_symbols_release(&mine);
    elf_file_release(&elf);
    arena_free(a);
    close(fd);
}

/* Three names for one place; the last one in the file is the name. */
__asm__(".text\n"
        ".globl several_names_a\n.type several_names_a, @function\n"
        ".globl __several_names_b\n.type __several_names_b, @function\n"
        "several_names_a:\n__several_names_b:\nsmall_label_c:\n"
        ".byte 0x90, 0x90, 0x90, 0x90\n"
        ".size several_names_a, 4\n.size __several_names_b, 4\n");

TEST(the_endpoint_and_pprof_name_an_address_alike)
{
    Dl_info libc;

    expect_same_names("/proc/self/exe");
    EXPECT(dladdr((void *)(uintptr_t)malloc, &libc) != 0);
    expect_same_names(libc.dli_fname);
}

TEST_MAIN
