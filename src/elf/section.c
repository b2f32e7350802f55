/*
 * A section's bytes on demand.  Plain ones are read page by page, in larger
 * windows where access is sequential; compressed ones are inflated as a whole
 * at the first access.  So a large section costs only what is looked at.
 */
#include "elf/section.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/pages.h"

#define PAGE       4096
#define TEXT_MAX   ((uint64_t)1 << 20)
#define PACKED_MAX 1032 /* zlib cannot pack better than one to this */

static bool is_old_style(const struct elf_file *f, const Elf64_Shdr *header)
{
    return strncmp(elf_file_section_name(f, header), ".zdebug", 7) == 0;
}

/* "ZLIB" and eight bytes of size, big end first. */
static bool open_old_style(struct elf_section *s)
{
    uint8_t head[12];

    if (s->size < sizeof(head) ||
        !elf_read_at(s->file->fd, head, sizeof(head), s->offset) ||
        memcmp(head, "ZLIB", 4) != 0)
        return false;
    s->packed_n = s->size - sizeof(head);
    s->offset += sizeof(head);
    s->size = 0;
    for (size_t i = 4; i < sizeof(head); i++)
        s->size = s->size << 8 | head[i];
    return true;
}

static bool open_packed(struct elf_section *s)
{
    Elf64_Chdr wide = {0};
    Elf32_Chdr narrow = {0};
    uint64_t head = s->file->is_64 ? sizeof(wide) : sizeof(narrow);

    if (s->size < head ||
        !elf_read_at(s->file->fd,
                     s->file->is_64 ? (void *)&wide : (void *)&narrow, head,
                     s->offset))
        return false;
    if ((s->file->is_64 ? wide.ch_type : narrow.ch_type) != ELFCOMPRESS_ZLIB)
        return false;
    s->packed_n = s->size - head;
    s->offset += head;
    s->size = s->file->is_64 ? wide.ch_size : narrow.ch_size;
    return true;
}

void elf_section_open(struct elf_section *s, const struct elf_file *file,
                      const Elf64_Shdr *header)
{
    *s = (struct elf_section){.file = file};
    if (!header || header->sh_offset > file->size ||
        header->sh_size > file->size - header->sh_offset)
        return;
    s->offset = header->sh_offset;
    s->size = header->sh_size;
    if (header->sh_flags & SHF_COMPRESSED)
        s->is_broken = !open_packed(s);
    else if (is_old_style(file, header))
        s->is_broken = !open_old_style(s);
    if (s->packed_n && s->size / PACKED_MAX > s->packed_n)
        s->is_broken = true;
}

static size_t bitmap_bytes(const struct elf_section *s)
{
    return (s->size / PAGE / 64 + 1) * sizeof(*s->there);
}

void elf_section_release(struct elf_section *s)
{
    pages_free(s->bytes, s->size);
    pages_free(s->there, bitmap_bytes(s));
    pages_free(s->window, s->window_cap);
    *s = (struct elf_section){.file = s->file};
}

void elf_section_drop(struct elf_section *s)
{
    if (!s->there || s->loaded == 0)
        return;
    madvise(s->bytes, s->size, MADV_DONTNEED);
    memset(s->there, 0, bitmap_bytes(s));
    s->loaded = 0;
}

static bool feed(struct elf_section *s, z_stream *z)
{
    uint8_t input[16384];
    uint64_t done = 0;
    int status = Z_OK;

    while (status == Z_OK && done < s->packed_n) {
        size_t n = s->packed_n - done < sizeof(input)
                       ? (size_t)(s->packed_n - done)
                       : sizeof(input);

        if (!elf_read_at(s->file->fd, input, n, s->offset + done))
            return false;
        done += n;
        z->next_in = input;
        z->avail_in = (unsigned)n;
        while (status == Z_OK && z->avail_in) {
            uint64_t at = (uint64_t)(z->next_out - s->bytes);

            z->avail_out =
                s->size - at > 1u << 30 ? 1u << 30 : (unsigned)(s->size - at);
            status = inflate(z, Z_NO_FLUSH);
        }
    }
    return status == Z_STREAM_END && z->next_out == s->bytes + s->size;
}

static bool inflate_all(struct elf_section *s)
{
    z_stream z = {.next_out = s->bytes};
    bool ok;

    if (inflateInit(&z) != Z_OK)
        return false;
    ok = feed(s, &z);
    inflateEnd(&z);
    s->loaded = s->size;
    return ok;
}

static bool prepare(struct elf_section *s)
{
    if (s->bytes || s->is_broken)
        return !s->is_broken;
    s->is_broken = true;
    s->bytes = pages_alloc(s->size);
    if (!s->bytes)
        return false;
    if (s->packed_n) {
        s->is_broken = !inflate_all(s);
    } else {
        s->there = pages_alloc(bitmap_bytes(s));
        s->is_broken = !s->there;
    }
    return !s->is_broken;
}

static bool is_there(const struct elf_section *s, uint64_t page)
{
    return s->there[page / 64] >> (page % 64) & 1;
}

/* Reads the pages from..to) in one go. */
static bool read_pages(struct elf_section *s, uint64_t from, uint64_t to)
{
    uint64_t start = from * PAGE;
    uint64_t end = to * PAGE < s->size ? to * PAGE : s->size;

    assert(start < end && s->there && s->bytes);
    if (!elf_read_at(s->file->fd, s->bytes + start, end - start,
                     s->offset + start))
        return false;
    s->loaded += end - start;
    for (uint64_t page = from; page < to; page++)
        s->there[page / 64] |= (uint64_t)1 << (page % 64);
    return true;
}

static bool in_window(const struct elf_section *s, uint64_t offset, uint64_t n)
{
    return offset >= s->window_offset && n <= s->window_n &&
           offset - s->window_offset <= s->window_n - n;
}

/* By pages, whatever the window holds. */
static const uint8_t *read_at(struct elf_section *s, uint64_t offset,
                              uint64_t n)
{
    uint64_t end, page;

    if (offset > s->size || n > s->size - offset || s->size == 0 || !prepare(s))
        return NULL;
    if (!s->there || n == 0)
        return s->bytes + offset;
    end = (offset + n - 1) / PAGE + 1;
    for (page = offset / PAGE; page < end; page++) {
        uint64_t from = page;

        while (page < end && !is_there(s, page))
            page++;
        if (from < page && !read_pages(s, from, page))
            return NULL;
    }
    return s->bytes + offset;
}

const uint8_t *elf_section_window(struct elf_section *s, uint64_t offset,
                                  uint64_t n)
{
    if (s->packed_n || n == 0 || offset > s->size || n > s->size - offset ||
        s->is_broken)
        return read_at(s, offset, n);
    if (in_window(s, offset, n))
        return s->window + (offset - s->window_offset);
    s->window_n = 0;
    if (n > s->window_cap) {
        pages_free(s->window, s->window_cap);
        s->window_cap = n + n / 2;
        s->window = pages_alloc(s->window_cap);
        if (!s->window) {
            s->window_cap = 0;
            return NULL;
        }
    }
    if (!elf_read_at(s->file->fd, s->window, n, s->offset + offset))
        return NULL;
    s->window_offset = offset;
    s->window_n = n;
    return s->window;
}

const uint8_t *elf_section_at(struct elf_section *s, uint64_t offset,
                              uint64_t n)
{
    if (n && in_window(s, offset, n))
        return s->window + (offset - s->window_offset);
    return read_at(s, offset, n);
}

const char *elf_section_text(struct elf_section *s, uint64_t offset)
{
    uint64_t from = offset, end;

    if (in_window(s, offset, 1)) {
        const char *text =
            (const char *)s->window + (offset - s->window_offset);

        if (memchr(text, 0, s->window_offset + s->window_n - offset))
            return text;
    }
    /* A page at a time, until one holds the NUL. */
    do {
        const uint8_t *p;

        end = (from / PAGE + 1) * PAGE;
        if (end > s->size)
            end = s->size;
        if (from >= end || !(p = read_at(s, from, end - from)))
            return NULL;
        if (memchr(p, 0, end - from))
            return (const char *)s->bytes + offset;
        from = end;
    } while (from - offset < TEXT_MAX);
    return NULL;
}
