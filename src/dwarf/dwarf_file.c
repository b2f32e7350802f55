#include "dwarf/dwarf_file.h"

#include <stdio.h>
#include <string.h>

static const char *const section_names[DWARF_SECTIONS] = {
    [DWARF_INFO] = "info",         [DWARF_ABBREV] = "abbrev",
    [DWARF_LINE] = "line",         [DWARF_STR] = "str",
    [DWARF_LINE_STR] = "line_str", [DWARF_STR_OFFSETS] = "str_offsets",
    [DWARF_ADDR] = "addr",         [DWARF_RANGES] = "ranges",
    [DWARF_RNGLISTS] = "rnglists", [DWARF_CU_INDEX] = "cu_index",
};

static const Elf64_Shdr *find(const struct elf_file *elf, const char *prefix,
                              const char *name, const char *suffix)
{
    char full[64];

    snprintf(full, sizeof(full), ".%s_%s%s", prefix, name, suffix);
    return elf_file_find(elf, full);
}

bool dwarf_file_open(struct dwarf_file *f, int fd, struct dwarf_work *work)
{
    *f = (struct dwarf_file){.work = work};
    if (!elf_file_open(&f->elf, fd))
        return false;
    f->is_split = !find(&f->elf, "debug", "info", "") &&
                  find(&f->elf, "debug", "info", ".dwo");
    for (int i = 0; i < DWARF_SECTIONS; i++) {
        const char *suffix = f->is_split && i != DWARF_CU_INDEX ? ".dwo" : "";
        const Elf64_Shdr *s = find(&f->elf, "debug", section_names[i], suffix);

        if (!s)
            s = find(&f->elf, "zdebug", section_names[i], suffix);
        elf_section_open(&f->sections[i], &f->elf, s);
    }
    if (f->sections[DWARF_INFO].size && f->sections[DWARF_ABBREV].size)
        return true;
    dwarf_file_release(f);
    return false;
}

void dwarf_file_release(struct dwarf_file *f)
{
    for (int i = 0; i < DWARF_SECTIONS; i++)
        elf_section_release(&f->sections[i]);
    pages_vec_release(&f->units);
    elf_file_release(&f->elf);
}

uint64_t dwarf_file_loaded(const struct dwarf_file *f)
{
    uint64_t sum = 0;

    for (int i = 0; i < DWARF_SECTIONS; i++)
        if (f->sections[i].there)
            sum += f->sections[i].loaded;
    return sum;
}

void dwarf_file_drop(struct dwarf_file *f)
{
    for (int i = 0; i < DWARF_SECTIONS; i++)
        elf_section_drop(&f->sections[i]);
}
