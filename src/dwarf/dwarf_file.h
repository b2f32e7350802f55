#ifndef DWARF_DWARF_FILE_H
#define DWARF_DWARF_FILE_H

#include "base/pages.h"
#include "elf/elf_file.h"
#include "elf/section.h"

/*
 * The debug sections of one ELF file, and the list of its units.
 */
enum dwarf_section {
    DWARF_INFO,
    DWARF_ABBREV,
    DWARF_LINE,
    DWARF_STR,
    DWARF_LINE_STR,
    DWARF_STR_OFFSETS,
    DWARF_ADDR,
    DWARF_RANGES,
    DWARF_RNGLISTS,
    DWARF_CU_INDEX,
    DWARF_SECTIONS
};

/*
 * The budget for an untrusted file.  Reading a table entry takes one off, so a
 * file that refers to the same bytes over and over cannot run for ever.
 */
struct dwarf_work {
    uint64_t left;
};

struct dwarf_file {
    struct elf_file elf;
    struct elf_section sections[DWARF_SECTIONS];
    struct dwarf_work *work;      /* shared by the files of one question */
    struct dwarf_file *alternate; /* dwz's common file, or NULL */
    struct dwarf_file *addresses; /* has .debug_addr: itself, or for a split
                                     file the one with the skeletons */
    struct pages_vec units;       /* of struct dwarf_unit, by offset */
    bool is_split;                /* sections are called .dwo */
    bool has_units;               /* the list has been made */
};

/* False: not an ELF file, or no debug information.  The caller keeps `fd`, open
 * as long as the file is used. */
bool dwarf_file_open(struct dwarf_file *f, int fd, struct dwarf_work *work);
void dwarf_file_release(struct dwarf_file *f);

/* Bytes of sections in memory, and forgetting them. */
uint64_t dwarf_file_loaded(const struct dwarf_file *f);
void dwarf_file_drop(struct dwarf_file *f);

static inline bool dwarf_spend(struct dwarf_work *work, uint64_t n)
{
    if (work->left < n) {
        work->left = 0;
        return false;
    }
    work->left -= n;
    return true;
}

#endif
