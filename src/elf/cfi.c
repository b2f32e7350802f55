#include "elf/cfi.h"

#include <string.h>

#include "elf/cfi_program.h"
#include "elf/cursor.h"

/*
 * .eh_frame is a list of records, each a CIE (what a group of functions has
 * in common) or an FDE (one function).  .eh_frame_hdr has a table of FDEs
 * sorted by address.  The instructions inside are run by cfi_program.c.
 */
#define PE_OMIT     0xff
#define PE_INDIRECT 0x80
#define PE_PCREL    0x10
#define PE_DATAREL  0x30

/* A CIE is used by thousands of FDEs in a row: keep the last few parsed. */
#define CIE_CACHE 16

struct reader {
    const struct elf_view *view;
    cfi_row_fn *row;
    void *ctx;
    uint64_t cie_at[CIE_CACHE];
    struct cfi_cie cie[CIE_CACHE];
};

/* A number in one of DWARF's pointer encodings; `at` is its own vaddr. */
static uint64_t encoded(struct cursor *c, uint8_t enc, uint64_t at,
                        uint64_t data)
{
    uint64_t v;

    switch (enc & 0x0f) {
    case 0x00: /* native */
    case 0x04:
    case 0x0c:
        v = cursor_u64(c);
        break;
    case 0x01:
        v = cursor_uleb(c);
        break;
    case 0x02:
        v = cursor_u16(c);
        break;
    case 0x03:
        v = cursor_u32(c);
        break;
    case 0x09:
        v = (uint64_t)cursor_sleb(c);
        break;
    case 0x0a:
        v = (uint64_t)(int16_t)cursor_u16(c);
        break;
    case 0x0b:
        v = (uint64_t)(int32_t)cursor_u32(c);
        break;
    default:
        c->bad = true;
        return 0;
    }
    switch (enc & 0x70) {
    case 0:
        return v;
    case PE_PCREL:
        return v + at;
    case PE_DATAREL:
        return v + data;
    default:
        c->bad = true;
        return 0;
    }
}

/* Opens the record at vaddr: *c spans its body after the length.  Returns
 * the body's vaddr, 0 at the end of the section or on nonsense. */
static uint64_t open_record(const struct elf_view *v, uint64_t vaddr,
                            struct cursor *c)
{
    size_t n;
    const uint8_t *p = elf_view_rest(v, vaddr, &n);
    uint64_t length, head = 4;

    *c = cursor_of(p, p ? n : 0);
    length = cursor_u32(c);
    if (length == UINT32_MAX) {
        length = cursor_u64(c);
        head = 12;
    }
    if (c->bad || length == 0 || length > cursor_left(c))
        return 0;
    c->end = c->at + length;
    return vaddr + head;
}

static bool parse_augmentation(struct cursor *c, const char *letters,
                               struct cfi_cie *cie)
{
    uint64_t n = cursor_uleb(c);
    const uint8_t *end = c->at + (n <= cursor_left(c) ? n : 0);

    if (c->bad || n > cursor_left(c))
        return false;
    cie->has_augmentation = true;
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R':
            cie->pointer_encoding = cursor_u8(c);
            break;
        case 'L':
            cursor_u8(c);
            break;
        case 'P':
            encoded(c, cursor_u8(c) & 0x0f, 0, 0);
            break;
        case 'S':
            cie->is_signal = true;
            break;
        case 'B':
            break;
        default: /* unknown: the length says where it ends */
            c->at = end;
            return true;
        }
    }
    c->at = end;
    return !c->bad;
}

static bool parse_cie(const struct elf_view *v, uint64_t vaddr,
                      struct cfi_cie *out)
{
    struct cfi_cie cie = {0};
    struct cursor c;
    const char *letters;
    uint8_t version;

    if (!open_record(v, vaddr, &c) || cursor_u32(&c) != 0)
        return false;
    version = cursor_u8(&c);
    letters = cursor_cstr(&c);
    if (c.bad || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4)
        cursor_skip(&c, 2);
    cie.code_align = cursor_uleb(&c);
    cie.data_align = cursor_sleb(&c);
    cie.ra_reg = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
    if (*letters == 'z' && !parse_augmentation(&c, letters + 1, &cie))
        return false;
    if (c.bad || (*letters && *letters != 'z'))
        return false;
    cie.program = c;
    *out = cie;
    return true;
}

static const struct cfi_cie *find_cie(struct reader *r, uint64_t vaddr)
{
    size_t slot = (vaddr >> 3) % CIE_CACHE;

    if (r->cie_at[slot] != vaddr) {
        r->cie_at[slot] = 0;
        if (!parse_cie(r->view, vaddr, &r->cie[slot]) ||
            !cfi_cie_init(&r->cie[slot]))
            return NULL;
        r->cie_at[slot] = vaddr;
    }
    return &r->cie[slot];
}

/* One FDE; false only when the callback wants no more. */
static bool read_fde(struct reader *r, uint64_t vaddr)
{
    struct cursor c;
    uint64_t body = open_record(r->view, vaddr, &c), at, start, size;
    const uint8_t *first = c.at;
    const struct cfi_cie *cie;
    uint32_t back;

    if (!body)
        return true;
    back = cursor_u32(&c);
    if (back == 0 || back > body || !(cie = find_cie(r, body - back)))
        return true;
    at = body + (uint64_t)(c.at - first);
    if (cie->pointer_encoding & PE_INDIRECT)
        return true;
    start = encoded(&c, cie->pointer_encoding, at, 0);
    size = encoded(&c, cie->pointer_encoding & 0x0f, 0, 0);
    if (cie->has_augmentation)
        cursor_skip(&c, cursor_uleb(&c));
    if (c.bad || size == 0 || start == 0 || size > UINT64_MAX - start)
        return true;
    return cfi_run(cie, c, start, start + size, r->row, r->ctx) &&
           r->row(r->ctx, start + size, NULL);
}

struct header {
    uint64_t eh_frame;
    struct cursor table; /* pairs of (pc, FDE), relative to the header */
    size_t n;
};

static bool parse_header(const struct elf_view *v, struct header *h)
{
    const uint8_t *p = elf_view_at(v, v->eh_frame_hdr, v->eh_frame_hdr_n);
    struct cursor c = cursor_of(p, p ? v->eh_frame_hdr_n : 0);
    uint8_t version = cursor_u8(&c), frame_enc = cursor_u8(&c);
    uint8_t count_enc = cursor_u8(&c), table_enc = cursor_u8(&c);
    uint64_t base = v->eh_frame_hdr, count;

    *h = (struct header){0};
    if (c.bad || version != 1 || frame_enc == PE_OMIT)
        return false;
    h->eh_frame = encoded(&c, frame_enc, base + 4, base);
    if (c.bad)
        return false;
    if (count_enc == PE_OMIT || table_enc != (PE_DATAREL | 0x0b))
        return true;
    count = encoded(&c, count_enc, base + (uint64_t)(c.at - p), base);
    if (!c.bad && count <= cursor_left(&c) / 8) {
        h->n = count;
        h->table = c;
    }
    return true;
}

uint64_t cfi_eh_frame(const struct elf_view *v)
{
    struct header h;

    return v->eh_frame_hdr && parse_header(v, &h) ? h.eh_frame : 0;
}

/* Without a search table: every record in file order. */
static bool read_linear(struct reader *r, uint64_t vaddr)
{
    struct cursor c;
    uint64_t body;

    while ((body = open_record(r->view, vaddr, &c)) != 0) {
        uint64_t next = body + cursor_left(&c);

        if (cursor_u32(&c) != 0 && !read_fde(r, vaddr))
            return false;
        vaddr = next;
    }
    return true;
}

bool cfi_each_row(const struct elf_view *v, cfi_row_fn *row, void *ctx)
{
    struct reader r = {.view = v, .row = row, .ctx = ctx};
    struct header h;

    if (!v->eh_frame_hdr || !parse_header(v, &h))
        return false;
    if (h.n == 0)
        return read_linear(&r, h.eh_frame);
    for (size_t i = 0; i < h.n; i++) {
        cursor_u32(&h.table);
        if (!read_fde(&r, v->eh_frame_hdr +
                              (uint64_t)(int32_t)cursor_u32(&h.table)))
            return false;
    }
    return true;
}
