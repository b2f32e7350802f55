/*
 * The line program of one unit: its header (two very different forms, before
 * and since DWARF 5), and the machine that produces rows.  Rows are not
 * stored.  They are compared with a sorted list of wanted addresses while the
 * program runs, since a unit may have a hundred thousand rows and be asked
 * about three addresses.
 */
#include "dwarf/lines.h"

#include <dwarf.h>

#include "base/search.h"

/* --- the header --------------------------------------------------------- */

void dwarf_lines_init(struct dwarf_lines *l)
{
    *l =
        (struct dwarf_lines){.directories = {.size = sizeof(const char *)},
                             .files = {.size = sizeof(struct dwarf_line_file)}};
}

void dwarf_lines_release(struct dwarf_lines *l)
{
    pages_vec_release(&l->directories);
    pages_vec_release(&l->files);
}

static bool add_directory(struct dwarf_lines *l, const char *name)
{
    const char **to = pages_vec_push(&l->directories, 1);

    if (to)
        *to = name;
    return to != NULL;
}

static bool add_file(struct dwarf_lines *l, const char *name,
                     uint64_t directory)
{
    struct dwarf_line_file *to = pages_vec_push(&l->files, 1);

    if (to)
        *to = (struct dwarf_line_file){name, directory};
    return to != NULL;
}

/* DWARF 2 to 4: texts, up to an empty one. */
static bool read_old_lists(struct dwarf_lines *l, struct cursor *c)
{
    const char *name;

    while (*(name = cursor_cstr(c)))
        if (!add_directory(l, name))
            return false;
    while (*(name = cursor_cstr(c))) {
        uint64_t directory = cursor_uleb(c);

        cursor_uleb(c); /* time */
        cursor_uleb(c); /* size */
        if (!add_file(l, name, directory))
            return false;
    }
    return !c->bad;
}

struct entry_format {
    uint64_t content[8], form[8];
    size_t n;
};

static bool read_format(struct cursor *c, struct entry_format *f)
{
    f->n = cursor_u8(c);
    if (f->n > 8)
        return false;
    for (size_t i = 0; i < f->n; i++) {
        f->content[i] = cursor_uleb(c);
        f->form[i] = cursor_uleb(c);
    }
    return !c->bad;
}

/* The text or number of one field; numbers only in `number`. */
static const char *read_field(const struct dwarf_lines *l, struct cursor *c,
                              uint64_t form, uint64_t *number)
{
    struct dwarf_unit u = *l->unit;
    struct dwarf_value v;

    u.format = l->format;
    if (form == DW_FORM_string)
        return cursor_cstr(c);
    if (form == DW_FORM_implicit_const || form > UINT16_MAX) {
        c->bad = true;
        return NULL;
    }
    v = dwarf_value_read(&u, c, (unsigned)form, 0);
    *number = v.u;
    return dwarf_text(&u, v);
}

static bool read_entries(struct dwarf_lines *l, struct cursor *c, bool files)
{
    struct entry_format f;
    uint64_t n;

    if (!read_format(c, &f))
        return false;
    n = cursor_uleb(c);
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        const uint8_t *before = c->at;
        const char *name = NULL;
        uint64_t directory = 0, ignored;

        for (size_t k = 0; k < f.n; k++) {
            bool is_dir = f.content[k] == DW_LNCT_directory_index;
            const char *text =
                read_field(l, c, f.form[k], is_dir ? &directory : &ignored);

            if (f.content[k] == DW_LNCT_path)
                name = text;
        }
        if (c->at == before)
            return false;
        name = name ? name : "";
        if (!(files ? add_file(l, name, directory) : add_directory(l, name)))
            return false;
    }
    return !c->bad;
}

static bool read_header(struct dwarf_lines *l, struct cursor *c)
{
    uint64_t header;
    unsigned version = cursor_u16(c);

    if (version < 2 || version > 5)
        return false;
    l->format.version = (uint8_t)version;
    if (version >= 5) {
        l->format.address_size = cursor_u8(c);
        cursor_u8(c); /* segment selectors: never seen */
    }
    header = dwarf_number(c, l->format.offset_size);
    if (header > cursor_left(c))
        return false;
    l->program = cursor_of(c->at + header, cursor_left(c) - header);
    c->end = c->at + header;
    l->min_length = cursor_u8(c);
    if (version >= 4)
        cursor_u8(c); /* operations an instruction: 1 but for VLIW */
    cursor_u8(c);     /* is_stmt */
    l->line_base = (int8_t)cursor_u8(c);
    l->line_range = cursor_u8(c);
    l->opcode_base = cursor_u8(c);
    for (unsigned i = 1; i < l->opcode_base; i++)
        l->lengths[i] = cursor_u8(c);
    if (c->bad || l->line_range == 0 || l->opcode_base == 0)
        return false;
    if (version >= 5)
        return read_entries(l, c, false) && read_entries(l, c, true);
    return read_old_lists(l, c);
}

bool dwarf_lines_open(struct dwarf_lines *l, const struct dwarf_unit *u)
{
    struct elf_section *s = &u->file->sections[DWARF_LINE];
    const char *comp_dir = dwarf_text(u, u->comp_dir);
    uint64_t at = u->line.u, length, head = 4;
    const uint8_t *p;
    struct cursor c;

    l->unit = u;
    l->comp_dir = comp_dir ? comp_dir : "";
    l->directories.n = l->files.n = 0;
    l->format = u->format;
    l->format.offset_size = 4;
    if ((u->line.kind != VALUE_OFFSET && u->line.kind != VALUE_NUMBER) ||
        !(p = elf_section_at(s, at, 4)))
        return false;
    c = cursor_of(p, 4);
    length = cursor_u32(&c);
    if (length == UINT32_MAX && (p = elf_section_at(s, at, 12))) {
        c = cursor_of(p + 4, 8);
        length = cursor_u64(&c);
        l->format.offset_size = 8;
        head = 12;
    }
    if (length > s->size || !(p = elf_section_at(s, at, head + length)) ||
        !dwarf_spend(u->file->work, length))
        return false;
    c = cursor_of(p + head, length);
    return read_header(l, &c);
}

/* --- the program -------------------------------------------------------- */

struct state {
    uint64_t address, file, line, column;
};

struct run {
    struct dwarf_lines *lines;
    struct state now, last; /* last: the row before, of the same sequence */
    bool has_last;
    const uint64_t *addresses;
    size_t n, next; /* next: the first that is not below last.address */
    struct dwarf_row *rows;
};

static void reset(struct run *r)
{
    r->now = (struct state){.file = 1, .line = 1};
    r->has_last = false;
}

/* A row ends the one before: that one reached to here. */
static void emit(struct run *r)
{
    if (r->has_last && r->now.address > r->last.address) {
        for (; r->next < r->n && r->addresses[r->next] < r->now.address;
             r->next++) {
            struct dwarf_row *row = &r->rows[r->next];

            if (!row->is_known)
                *row = (struct dwarf_row){r->last.file, r->last.line,
                                          r->last.column, true};
        }
    } else if (!r->has_last || r->now.address < r->last.address) {
        r->next = search_first(i, 0, r->n, r->addresses[i] >= r->now.address);
    }
    r->last = r->now;
    r->has_last = true;
}

static void run_special(struct run *r, unsigned opcode)
{
    const struct dwarf_lines *l = r->lines;
    unsigned adjusted = opcode - l->opcode_base;

    r->now.address += (uint64_t)(adjusted / l->line_range) * l->min_length;
    r->now.line +=
        (uint64_t)(int64_t)(l->line_base + (int)(adjusted % l->line_range));
    emit(r);
}

static void run_extended(struct run *r, struct cursor *c)
{
    uint64_t n = cursor_uleb(c);
    struct cursor operands = *c;

    if (!cursor_skip(c, n) || n == 0)
        return;
    operands.end = c->at;
    switch (cursor_u8(&operands)) {
    case DW_LNE_end_sequence:
        emit(r);
        reset(r);
        break;
    case DW_LNE_set_address:
        r->now.address = dwarf_number(&operands, (unsigned)(n - 1));
        break;
    case DW_LNE_define_file: {
        const char *name = cursor_cstr(&operands);

        add_file(r->lines, name, cursor_uleb(&operands));
        break;
    }
    default:
        break;
    }
}

static void run_standard(struct run *r, struct cursor *c, unsigned opcode)
{
    const struct dwarf_lines *l = r->lines;

    switch (opcode) {
    case DW_LNS_copy:
        emit(r);
        break;
    case DW_LNS_advance_pc:
        r->now.address += cursor_uleb(c) * l->min_length;
        break;
    case DW_LNS_advance_line:
        r->now.line += (uint64_t)cursor_sleb(c);
        break;
    case DW_LNS_set_file:
        r->now.file = cursor_uleb(c);
        break;
    case DW_LNS_set_column:
        r->now.column = cursor_uleb(c);
        break;
    case DW_LNS_const_add_pc:
        r->now.address +=
            (uint64_t)((255 - l->opcode_base) / l->line_range) * l->min_length;
        break;
    case DW_LNS_fixed_advance_pc:
        r->now.address += cursor_u16(c);
        break;
    case DW_LNS_negate_stmt:
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
        break;
    default:
        for (unsigned i = 0; i < l->lengths[opcode]; i++)
            cursor_uleb(c);
    }
}

void dwarf_lines_find(struct dwarf_lines *l, const uint64_t *addresses,
                      size_t n, struct dwarf_row *rows)
{
    struct run r = {.lines = l, .addresses = addresses, .n = n, .rows = rows};
    struct cursor c = l->program;

    reset(&r);
    while (cursor_left(&c) && !c.bad) {
        unsigned opcode = cursor_u8(&c);

        if (opcode >= l->opcode_base)
            run_special(&r, opcode);
        else if (opcode == 0)
            run_extended(&r, &c);
        else
            run_standard(&r, &c, opcode);
    }
}

/* --- paths -------------------------------------------------------------- */

/* Appends a part of a path, with a slash before it where one is missing. */
static bool add_part(struct pages_vec *out, size_t start, const char *part)
{
    size_t n = strlen(part);
    const char *text = out->p;
    bool slash = out->n > start && text[out->n - 1] != '/' && n;
    char *to = n ? pages_vec_push(out, n + slash) : NULL;

    if (n == 0)
        return true;
    if (!to)
        return false;
    if (slash)
        *to++ = '/';
    memcpy(to, part, n);
    return true;
}

bool dwarf_lines_path(const struct dwarf_lines *l, uint64_t file,
                      struct pages_vec *out)
{
    bool old = l->format.version < 5;
    const struct dwarf_line_file *f = l->files.p;
    const char *const *directories = l->directories.p;
    const char *directory = "";
    size_t start = out->n;
    char *end;

    file -= old;
    if (file >= l->files.n)
        return true;
    f += file;
    if (f->name[0] != '/') {
        /* Before DWARF 5 directory 0 is the unit's, and not in the list. */
        uint64_t index = f->directory - old;

        if (index < l->directories.n)
            directory = directories[index];
        if (directory[0] != '/' && !add_part(out, start, l->comp_dir))
            return false;
    }
    if (!add_part(out, start, directory) || !add_part(out, start, f->name) ||
        !(end = pages_vec_push(out, 1)))
        return false;
    *end = '\0';
    return true;
}
