#ifndef DWARF_LINES_H
#define DWARF_LINES_H

#include "dwarf/unit.h"

/*
 * The line table of a unit, DWARF 2 to 5.
 *
 * The rows are never kept: the line program is run once with the addresses
 * that are asked for, and each takes its row as it comes by.  Texts point
 * into the sections.
 */
struct dwarf_line_file {
    const char *name;
    uint64_t directory;
};

struct dwarf_lines {
    const struct dwarf_unit *unit;
    const char *comp_dir;         /* of the unit; "": not given */
    struct pages_vec directories; /* of const char * */
    struct pages_vec files;       /* of struct dwarf_line_file */
    struct dwarf_format format;
    struct cursor program;
    uint8_t opcode_base, line_range, min_length;
    int8_t line_base;
    uint8_t lengths[256]; /* of standard opcodes' operands */
};

struct dwarf_row {
    uint64_t file, line, column;
    bool is_known;
};

void dwarf_lines_init(struct dwarf_lines *l);
void dwarf_lines_release(struct dwarf_lines *l);

/* Reads the header of a unit's table; false: there is none, or it is
 * malformed. */
bool dwarf_lines_open(struct dwarf_lines *l, const struct dwarf_unit *u);

/* Finds the row of each of n ascending addresses. */
void dwarf_lines_find(struct dwarf_lines *l, const uint64_t *addresses,
                      size_t n, struct dwarf_row *rows);

/* Appends a file's path and a NUL to `out`, a vector of bytes; nothing when
 * there is no such file.  False: out of memory. */
bool dwarf_lines_path(const struct dwarf_lines *l, uint64_t file,
                      struct pages_vec *out);

#endif
