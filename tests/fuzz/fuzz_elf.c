/*
 * ELF files from untrusted sources: headers, notes, symbol tables and unwind
 * data, as libpprof and the symboliser read them.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/cfi.h"
#include "elf/symbols.h"
#include "elf/unwind_table.h"
#include "elf/view.h"

static void read_unwind_data(const struct elf_view *v)
{
    struct rule_set set;
    struct unwind_table t;
    struct unwind_rule rule;
    struct cfi c;

    if (!rule_set_init(&set))
        return;
    if (cfi_open(&c, v))
        for (uint64_t a = 0; a < 4096; a += 7)
            cfi_find(&c, v->text_start + a, &rule);
    if (unwind_table_build(&t, v, &set))
        for (uint64_t a = t.start; a < t.limit && a - t.start < 65536; a += 3)
            if (unwind_table_find(&t, a) >= set.n)
                abort();
    unwind_table_release(&t);
    rule_set_release(&set);
}

static void read_symbols(const uint8_t *data, size_t size)
{
    struct elf_symbols s;
    int fd = memfd_create("elf", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
        elf_symbols_from_fd(&s, fd, NULL, 0)) {
        const struct elf_symbol *v = s.v.p;

        for (size_t i = 0; i < s.v.n; i++)
            if (elf_symbol_name(&s, &v[i]).n == 0)
                abort();
        elf_symbols_release(&s);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t id[ELF_BUILD_ID_MAX];
    struct elf_symbols s;
    struct elf_view v;

    read_symbols(data, size);
    if (!elf_view_file(&v, data, size))
        return 0;
    elf_build_id(&v, id);
    read_unwind_data(&v);
    if (elf_symbols_from_module(&s, &v))
        elf_symbols_release(&s);
    return 0;
}
