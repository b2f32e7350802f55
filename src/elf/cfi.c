/*
 * SIGNAL CONTEXT: cfi_find() runs in handlers.  Nothing here takes a lock,
 * allocates or calls libc beyond memcpy and memset.
 */
#include "elf/cfi.h"

#include "base/search.h"
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

struct cie_cache {
    uint64_t at[CIE_CACHE];
    struct cfi_cie cie[CIE_CACHE];
};

struct reader {
    const struct cfi *cfi;
    cfi_row_fn *row;
    void *ctx;
    struct cie_cache *cache; /* NULL: for a single record it is not worth it */
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
static uint64_t open_record(const struct cfi *cfi, uint64_t vaddr,
                            struct cursor *c)
{
    uint64_t off = vaddr - cfi->vaddr, length, head = 4;

    if (vaddr < cfi->vaddr || off >= cfi->n)
        return 0;
    *c = cursor_of(cfi->bytes + off, cfi->n - off);
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

static bool parse_cie(const struct cfi *cfi, uint64_t vaddr,
                      struct cfi_cie *out)
{
    struct cfi_cie cie = {0};
    struct cursor c;
    const char *letters;
    uint8_t version;

    if (!open_record(cfi, vaddr, &c) || cursor_u32(&c) != 0)
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
    return cfi_cie_init(out);
}

/* The CIE at vaddr, from the cache or parsed into `room`. */
static const struct cfi_cie *find_cie(struct reader *r, uint64_t vaddr,
                                      struct cfi_cie *room)
{
    struct cie_cache *cache = r->cache;
    size_t slot = (vaddr >> 3) % CIE_CACHE;

    if (!cache)
        return parse_cie(r->cfi, vaddr, room) ? room : NULL;
    if (cache->at[slot] != vaddr) {
        cache->at[slot] = 0;
        if (!parse_cie(r->cfi, vaddr, &cache->cie[slot]))
            return NULL;
        cache->at[slot] = vaddr;
    }
    return &cache->cie[slot];
}

/* One FDE; false only when the callback wants no more. */
static bool read_fde(struct reader *r, uint64_t vaddr)
{
    struct cfi_cie room;
    struct cursor c;
    uint64_t body = open_record(r->cfi, vaddr, &c), at, start, size;
    const struct cfi_cie *cie;
    const uint8_t *first;
    uint32_t back;

    if (!body)
        return true;
    first = c.at;
    back = cursor_u32(&c);
    if (back == 0 || back > body || !(cie = find_cie(r, body - back, &room)))
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

/* The segment that holds a pointer. */
static struct cfi segment_of(const struct elf_view *v, const uint8_t *p)
{
    for (size_t i = 0; i < v->n_segments; i++) {
        const struct elf_segment *s = &v->segments[i];

        if (p >= s->bytes && (size_t)(p - s->bytes) < s->n)
            return (struct cfi){.bytes = s->bytes, .n = s->n, s->vaddr};
    }
    return (struct cfi){0};
}

/* Without a header: only all records one after another can be read. */
static bool open_bare(struct cfi *c, const struct elf_view *v)
{
    size_t n;
    const uint8_t *p = elf_view_rest(v, v->eh_frame, &n);

    if (v->eh_frame == 0 || !p)
        return false;
    *c = segment_of(v, p);
    c->eh_frame = v->eh_frame;
    return true;
}

bool cfi_open(struct cfi *c, const struct elf_view *v)
{
    size_t n = 0;
    const uint8_t *p = elf_view_rest(v, v->eh_frame_hdr, &n);
    struct cursor h =
        cursor_of(p, v->eh_frame_hdr_n <= n ? v->eh_frame_hdr_n : 0);
    uint8_t version = cursor_u8(&h), frame_enc = cursor_u8(&h);
    uint8_t count_enc = cursor_u8(&h), table_enc = cursor_u8(&h);
    uint64_t base = v->eh_frame_hdr, count;

    *c = (struct cfi){0};
    if (base == 0)
        return open_bare(c, v);
    if (h.bad || version != 1 || frame_enc == PE_OMIT)
        return false;
    *c = segment_of(v, p);
    c->hdr = base;
    c->eh_frame = encoded(&h, frame_enc, base + 4, base);
    if (h.bad || c->eh_frame < c->vaddr || c->eh_frame - c->vaddr >= c->n)
        return false;
    if (count_enc == PE_OMIT || table_enc != (PE_DATAREL | 0x0b))
        return true;
    count = encoded(&h, count_enc, base + (uint64_t)(h.at - p), base);
    if (!h.bad && count <= cursor_left(&h) / 8) {
        c->n_table = count;
        c->table = h.at;
    }
    return true;
}

/* A number of the search table, as a vaddr: even ones are pcs, odd FDEs. */
static uint64_t table_at(const struct cfi *c, size_t i)
{
    int32_t v;

    memcpy(&v, c->table + i * 4, sizeof(v));
    return c->hdr + (uint64_t)(int64_t)v;
}

/* Without a search table: every record in file order. */
static bool read_linear(struct reader *r, uint64_t vaddr)
{
    struct cursor c;
    uint64_t body;

    while ((body = open_record(r->cfi, vaddr, &c)) != 0) {
        uint64_t next = body + cursor_left(&c);

        if (cursor_u32(&c) != 0 && !read_fde(r, vaddr))
            return false;
        vaddr = next;
    }
    return true;
}

bool cfi_each_row(const struct cfi *c, cfi_row_fn *row, void *ctx)
{
    struct cie_cache cache = {0};
    struct reader r = {c, row, ctx, &cache};

    if (c->n_table == 0)
        return read_linear(&r, c->eh_frame);
    for (size_t i = 0; i < c->n_table; i++)
        if (!read_fde(&r, table_at(c, 2 * i + 1)))
            return false;
    return true;
}

struct search {
    uint64_t vaddr;
    struct unwind_rule rule; /* of the last row at or before vaddr */
    bool found;
};

static bool search_row(void *ctx, uint64_t vaddr,
                       const struct unwind_rule *rule)
{
    struct search *s = ctx;

    if (vaddr > s->vaddr)
        return false;
    if (rule)
        s->rule = *rule;
    s->found = rule || s->vaddr - vaddr < CFI_SMALL_GAP;
    return true;
}

bool cfi_find(const struct cfi *c, uint64_t vaddr, struct unwind_rule *out)
{
    struct search search = {.vaddr = vaddr};
    struct reader r = {c, search_row, &search, NULL};
    size_t next = search_first(i, 0, c->n_table, table_at(c, 2 * i) > vaddr);

    if (next == 0)
        return false;
    read_fde(&r, table_at(c, 2 * next - 1));
    if (search.found)
        *out = search.rule;
    return search.found;
}

bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start_out,
                  uint64_t *limit_out)
{
    size_t next = search_first(i, 0, c->n_table, table_at(c, 2 * i) > vaddr);

    if (next == 0)
        return false;
    *start_out = table_at(c, 2 * next - 2);
    *limit_out = next < c->n_table ? table_at(c, 2 * next) : UINT64_MAX;
    return true;
}
