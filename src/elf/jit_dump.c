/*
 * jit-PID.dump, as the kernel's tools/perf/Documentation/jitdump-specification
 * has it.  Only heads and names of records are read, not the code.
 */
#include <string.h>

#include "elf/cursor.h"
#include "elf/jit_map.h"

#define MAGIC        0x4a695444u /* "JiTD" */
#define HEADER_BYTES 40

enum { CODE_LOAD = 0, CODE_MOVE = 1 };

#define PREFIX_BYTES 16 /* id, size, time */
#define LOAD_BYTES   40 /* pid, tid, vma, address, size, number */
#define MOVE_BYTES   48 /* pid, tid, vma, from, to, size, number */

/* So far back the name of moved code is looked for. */
#define MAX_LOOKBACK 4096

struct record {
    uint32_t id, size;
    uint64_t at; /* of its body in the file */
    uint32_t body_n;
};

static bool read_header(const struct elf_source *file, uint32_t pid,
                        uint64_t *first)
{
    uint8_t head[HEADER_BYTES];
    struct cursor c = cursor_of(head, sizeof(head));

    if (!elf_source_read(file, head, sizeof(head), 0) ||
        cursor_u32(&c) != MAGIC)
        return false;
    cursor_u32(&c); /* version */
    *first = cursor_u32(&c);
    cursor_skip(&c, 8); /* machine, padding */
    return cursor_u32(&c) == pid && *first >= HEADER_BYTES;
}

static bool read_record(const struct elf_source *file, uint64_t at,
                        struct record *out)
{
    uint8_t prefix[PREFIX_BYTES];
    struct cursor c = cursor_of(prefix, sizeof(prefix));

    if (!elf_source_read(file, prefix, sizeof(prefix), at))
        return false;
    out->id = cursor_u32(&c);
    out->size = cursor_u32(&c);
    out->at = at + PREFIX_BYTES;
    out->body_n = out->size - PREFIX_BYTES;
    return out->size >= PREFIX_BYTES;
}

static bool take_load(struct jit_map *m, const struct elf_source *file,
                      const struct record *r)
{
    uint8_t body[LOAD_BYTES + JIT_MAX_NAME];
    size_t n = r->body_n < sizeof(body) ? r->body_n : sizeof(body);
    struct cursor c = cursor_of(body, n);
    uint64_t address, size;
    const char *name;

    if (!elf_source_read(file, body, n, r->at))
        return true;        /* still being written */
    cursor_skip(&c, 8 + 8); /* pid, tid, vma */
    address = cursor_u64(&c);
    size = cursor_u64(&c);
    cursor_u64(&c); /* number */
    name = (const char *)c.at;
    return c.bad || jit_map_add(m, address, size,
                                str_of(name, strnlen(name, cursor_left(&c))));
}

static bool take_move(struct jit_map *m, const struct elf_source *file,
                      const struct record *r)
{
    uint8_t body[MOVE_BYTES];
    struct cursor c = cursor_of(body, sizeof(body));
    uint64_t from, to, size;
    char name[JIT_MAX_NAME];
    size_t n;

    if (r->body_n < sizeof(body) ||
        !elf_source_read(file, body, sizeof(body), r->at))
        return true;
    cursor_skip(&c, 8 + 8);
    from = cursor_u64(&c);
    to = cursor_u64(&c);
    size = cursor_u64(&c);
    n = jit_map_last_name(m, from, MAX_LOOKBACK, name);
    return jit_map_add(m, to, size, str_of(name, n));
}

bool jit_map_add_dump(struct jit_map *m, const struct elf_source *file,
                      uint32_t pid)
{
    struct record r;
    uint64_t at;

    if (!read_header(file, pid, &at))
        return false;
    for (; read_record(file, at, &r); at += r.size) {
        if (r.id == CODE_LOAD && !take_load(m, file, &r))
            return false;
        if (r.id == CODE_MOVE && !take_move(m, file, &r))
            return false;
    }
    return true;
}
