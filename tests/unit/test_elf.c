#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/pages.h"
#include "elf/cfi.h"
#include "elf/eh_frame.h"
#include "elf/maps.h"
#include "elf/symbols.h"
#include "elf/unwind_table.h"
#include "elf/view.h"

struct bytes {
    unsigned char *p;
    size_t n;
};

static struct bytes load(const char *path)
{
    struct bytes b = {0};
    int fd = open(path, O_RDONLY);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

    b.n = (size_t)size;
    b.p = malloc(b.n + 1);
    if (fd < 0 || pread(fd, b.p, b.n, 0) != size)
        b.n = 0;
    close(fd);
    return b;
}

int elf_test_landmark(int x);

__attribute__((noinline)) int elf_test_landmark(int x)
{
    return x * 3 + 1;
}

TEST(a_line_of_maps_is_understood)
{
    struct maps_entry e;

    EXPECT(maps_parse_line(
        STR("7f00a000-7f00c000 r-xp 00002000 fe:01 77 /lib/x y.so (deleted)"),
        &e));
    EXPECT(e.start == 0x7f00a000 && e.limit == 0x7f00c000);
    EXPECT(e.offset == 0x2000 && e.inode == 77);
    EXPECT(e.readable && !e.writable && e.executable);
    EXPECT_STR(e.path, "/lib/x y.so");
    EXPECT(maps_parse_line(STR("0-1000 rw-p 00000000 00:00 0 "), &e));
    EXPECT_STR(e.path, "");
}

TEST(nonsense_is_no_line_of_maps)
{
    struct maps_entry e;

    EXPECT(!maps_parse_line(STR(""), &e));
    EXPECT(!maps_parse_line(STR("1000-0 r-xp 0 00:00 0 x"), &e));
    EXPECT(!maps_parse_line(STR("zz-1000 r-xp 0 00:00 0 x"), &e));
    EXPECT(!maps_parse_line(STR("0-1000 r-x"), &e));
}

TEST(own_maps_hold_own_code)
{
    struct maps m;
    const struct maps_entry *e;

    EXPECT(maps_read(&m, "/proc/self/maps"));
    e = maps_find(&m, (uintptr_t)elf_test_landmark);
    EXPECT(e && e->executable && e->inode != 0);
    EXPECT(!maps_find(&m, 8));
    maps_release(&m);
    EXPECT(!maps_read(&m, "/nonexistent"));
    maps_release(&m);
}

TEST(the_symbol_table_names_a_function_at_any_of_its_addresses)
{
    struct bytes self = load("/proc/self/exe");
    struct elf_symbols s;
    const struct elf_symbol *found;
    struct maps m;
    const struct maps_entry *e;
    struct elf_view v;
    uint64_t vaddr = 0;
    int fd = open("/proc/self/exe", O_RDONLY);

    EXPECT(maps_read(&m, "/proc/self/maps"));
    e = maps_find(&m, (uintptr_t)elf_test_landmark);
    EXPECT(elf_view_file(&v, self.p, self.n));
    for (size_t i = 0; e && i < v.n_segments; i++)
        if (v.segments[i].executable)
            vaddr = (uintptr_t)elf_test_landmark - e->start +
                    (v.segments[i].vaddr & ~(uint64_t)4095);
    EXPECT(elf_symbols_from_fd(&s, fd, NULL, 0));
    found = elf_symbols_find(&s, vaddr);
    EXPECT(found != NULL);
    if (found) {
        EXPECT_STR(elf_symbol_name(&s, found), "elf_test_landmark");
        EXPECT(found->vaddr == vaddr);
        EXPECT(elf_symbols_find(&s, vaddr + found->size - 1) == found);
    }
    EXPECT(elf_symbols_find(&s, 1) == NULL);
    elf_symbols_release(&s);
    maps_release(&m);
    close(fd);
    free(self.p);
}

TEST(a_file_with_another_build_id_is_refused)
{
    struct bytes self = load("/proc/self/exe");
    uint8_t id[ELF_BUILD_ID_MAX];
    struct elf_symbols s;
    struct elf_view v;
    size_t n;
    int fd = open("/proc/self/exe", O_RDONLY);

    EXPECT(elf_view_file(&v, self.p, self.n));
    n = elf_build_id(&v, id);
    EXPECT(n == 20);
    EXPECT(elf_symbols_from_fd(&s, fd, id, n));
    elf_symbols_release(&s);
    id[3] ^= 1;
    EXPECT(!elf_symbols_from_fd(&s, fd, id, n));
    close(fd);
    free(self.p);
}

TEST(the_vdso_has_symbols_in_memory)
{
    const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)base;
    const Elf64_Phdr *ph;
    struct elf_symbols s;
    struct elf_view v;
    uint64_t bias;
    bool clock = false;

    if (!base)
        return; /* an emulator without one */
    ph = (const Elf64_Phdr *)(base + eh->e_phoff);
    bias = (uintptr_t)base - ph[0].p_vaddr;
    elf_view_module(&v, bias, ph, eh->e_phnum);
    EXPECT(elf_symbols_from_module(&s, &v));
    for (size_t i = 0; i < s.v.n; i++) {
        struct str name = elf_symbol_name(&s, (struct elf_symbol *)s.v.p + i);

        clock |= str_contains(name, STR("clock_gettime"));
    }
    EXPECT(clock);
    elf_symbols_release(&s);
}

static size_t rows_of(const struct bytes *b)
{
    struct elf_view v;
    struct rule_set set;
    struct unwind_table t;
    size_t n = 0;

    if (!elf_view_file(&v, b->p, b->n) || !rule_set_init(&set))
        return 0;
    if (unwind_table_build(&t, &v, &set)) {
        n = t.n_rows;
        for (uint64_t a = t.start - 300; a < t.start + 70000; a += 7)
            n += unwind_table_find(&t, a) >= set.n ? 1u << 30 : 0;
        n += unwind_table_find(&t, t.limit) ? 1u << 30 : 0;
    }
    unwind_table_release(&t);
    rule_set_release(&set);
    return n;
}

TEST(own_eh_frame_becomes_rows)
{
    struct bytes self = load("/proc/self/exe");
    size_t n = rows_of(&self);

    EXPECT(n > 50 && n < 1000000);
    free(self.p);
}

static void drop_eh_frame_hdr(struct bytes *b)
{
    Elf64_Ehdr *eh = (Elf64_Ehdr *)b->p;
    Elf64_Phdr *ph = (Elf64_Phdr *)(b->p + eh->e_phoff);

    for (unsigned i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_GNU_EH_FRAME)
            ph[i].p_type = PT_NULL;
}

static size_t rules_that_differ(const struct bytes *a, const struct bytes *b)
{
    struct elf_view va, vb;
    struct rule_set set;
    struct unwind_table ta, tb;
    size_t differ = 0;

    EXPECT(elf_view_file(&va, a->p, a->n) && elf_view_file(&vb, b->p, b->n));
    EXPECT(va.eh_frame_hdr && !vb.eh_frame_hdr && vb.eh_frame);
    EXPECT(rule_set_init(&set));
    EXPECT(unwind_table_build(&ta, &va, &set));
    EXPECT(unwind_table_build(&tb, &vb, &set));
    for (uint64_t at = ta.start; at < ta.limit; at++) {
        uint16_t rule = unwind_table_find(&ta, at);

        differ += rule && rule != unwind_table_find(&tb, at);
    }
    unwind_table_release(&ta);
    unwind_table_release(&tb);
    rule_set_release(&set);
    return differ;
}

/* As gcc links static programs. */
TEST(eh_frame_is_found_by_section_headers)
{
    struct bytes self = load("/proc/self/exe");
    struct bytes bare = load("/proc/self/exe");
    int fd = open("/proc/self/exe", O_RDONLY);
    struct elf_view v;

    drop_eh_frame_hdr(&bare);
    EXPECT(rules_that_differ(&self, &bare) == 0);
    EXPECT(elf_view_file(&v, bare.p, bare.n));
    EXPECT(elf_eh_frame_of_fd(fd) == v.eh_frame && v.eh_frame != 0);
    close(fd);
    for (size_t n = 0; n < bare.n; n += 997) {
        struct bytes cut = {bare.p, n};

        rows_of(&cut);
    }
    free(bare.p);
    free(self.p);
}

TEST(a_file_cut_anywhere_is_survived)
{
    struct bytes self = load("/proc/self/exe"), cut = self;

    for (cut.n = 0; cut.n < self.n; cut.n += 997)
        rows_of(&cut);
    EXPECT(rows_of(&self) > 0);
    free(self.p);
}

TEST(a_damaged_file_is_survived)
{
    struct bytes self = load("/proc/self/exe"), bad = {malloc(self.n), self.n};
    uint64_t seed = (uint64_t)getpid() * 2654435761u;

    printf("# seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 150; round++) {
        memcpy(bad.p, self.p, self.n);
        for (int i = 0; i < 200; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bad.p[(seed >> 20) % (i < 20 ? 1024 : bad.n)] =
                (unsigned char)(seed >> 50);
        }
        rows_of(&bad);
    }
    EXPECT(rows_of(&self) > 0);
    free(bad.p);
    free(self.p);
}

TEST_MAIN
