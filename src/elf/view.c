/*
 * Program headers of a file in memory or of a loaded module, seen alike: where
 * an address of the object lies in our memory, and how many bytes follow.
 * Nothing is copied.  Every pointer that is handed out was checked against the
 * segment it is in.
 */
#include "elf/view.h"

#include <string.h>

#include "elf/cursor.h"
#include "elf/eh_frame.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "x86-64 and aarch64 only"
#endif

static void add_note(struct elf_view *v, const Elf64_Phdr *ph)
{
    size_t max = sizeof(v->notes) / sizeof(v->notes[0]);

    if (v->n_notes == max)
        return;
    v->notes[v->n_notes] = ph->p_vaddr;
    v->notes_n[v->n_notes++] = ph->p_memsz;
}

/* `base` is where vaddr 0 would be for a module, the file's first byte for a
 * file; `file_n` is 0 for a module. */
static void add_load(struct elf_view *v, const Elf64_Phdr *ph,
                     const uint8_t *base, size_t file_n)
{
    struct elf_segment s = {.vaddr = ph->p_vaddr,
                            .n = ph->p_filesz,
                            .executable = (ph->p_flags & PF_X) != 0};

    if (ph->p_memsz > UINT64_MAX - ph->p_vaddr ||
        v->n_segments == ELF_MAX_SEGMENTS)
        return;
    if (s.executable) {
        uint64_t limit = ph->p_vaddr + ph->p_memsz;

        if (v->text_limit == 0 || ph->p_vaddr < v->text_start)
            v->text_start = ph->p_vaddr;
        if (limit > v->text_limit)
            v->text_limit = limit;
    }
    if (!(ph->p_flags & PF_R))
        return;
    if (file_n) {
        if (ph->p_offset > file_n || ph->p_filesz > file_n - ph->p_offset)
            return;
        s.bytes = base + ph->p_offset;
    } else {
        s.bytes = (const uint8_t *)(v->bias + ph->p_vaddr);
    }
    v->segments[v->n_segments++] = s;
}

static void add_phdr(struct elf_view *v, const Elf64_Phdr *ph,
                     const uint8_t *base, size_t file_n)
{
    switch (ph->p_type) {
    case PT_LOAD:
        add_load(v, ph, base, file_n);
        break;
    case PT_GNU_EH_FRAME:
        v->eh_frame_hdr = ph->p_vaddr;
        v->eh_frame_hdr_n = ph->p_memsz;
        break;
    case PT_DYNAMIC:
        v->dynamic = ph->p_vaddr;
        v->dynamic_n = ph->p_memsz;
        break;
    case PT_NOTE:
        add_note(v, ph);
        break;
    default:
        break;
    }
}

bool elf_view_file(struct elf_view *v, const void *bytes, size_t n)
{
    Elf64_Ehdr eh;

    *v = (struct elf_view){0};
    if (n < sizeof(eh))
        return false;
    memcpy(&eh, bytes, sizeof(eh));
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != OUR_MACHINE ||
        eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phoff > n ||
        eh.e_phnum > (n - eh.e_phoff) / sizeof(Elf64_Phdr))
        return false;
    for (size_t i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;

        memcpy(&ph, (const uint8_t *)bytes + eh.e_phoff + i * sizeof(ph),
               sizeof(ph));
        add_phdr(v, &ph, bytes, n);
    }
    if (v->eh_frame_hdr == 0)
        v->eh_frame = elf_eh_frame_of_file(bytes, n);
    return true;
}

void elf_view_module(struct elf_view *v, uint64_t bias, const Elf64_Phdr *phdr,
                     size_t n_phdr)
{
    *v = (struct elf_view){.bias = bias};
    for (size_t i = 0; i < n_phdr; i++)
        add_phdr(v, &phdr[i], NULL, 0);
}

const uint8_t *elf_view_rest(const struct elf_view *v, uint64_t vaddr,
                             size_t *n_out)
{
    for (size_t i = 0; i < v->n_segments; i++) {
        const struct elf_segment *s = &v->segments[i];

        if (vaddr < s->vaddr || vaddr - s->vaddr >= s->n)
            continue;
        *n_out = s->n - (vaddr - s->vaddr);
        return s->bytes + (vaddr - s->vaddr);
    }
    return NULL;
}

const void *elf_view_at(const struct elf_view *v, uint64_t vaddr, size_t n)
{
    size_t left;
    const uint8_t *p = elf_view_rest(v, vaddr, &left);

    return p && n <= left ? p : NULL;
}

size_t elf_note_build_id(const void *notes, size_t n,
                         uint8_t out[ELF_BUILD_ID_MAX])
{
    struct cursor c = cursor_of(notes, n);

    while (cursor_left(&c) >= 12) {
        uint32_t name_n = cursor_u32(&c);
        uint32_t desc_n = cursor_u32(&c);
        uint32_t type = cursor_u32(&c);
        const uint8_t *name = c.at, *desc;

        cursor_skip(&c, ((uint64_t)name_n + 3) & ~(uint64_t)3);
        desc = c.at;
        cursor_skip(&c, desc_n);
        if (c.bad)
            return 0;
        if (type == NT_GNU_BUILD_ID && name_n == 4 &&
            memcmp(name, "GNU", 4) == 0 && desc_n <= ELF_BUILD_ID_MAX) {
            memcpy(out, desc, desc_n);
            return desc_n;
        }
        cursor_skip(&c, (0 - (uint64_t)desc_n) & 3);
    }
    return 0;
}

size_t elf_build_id(const struct elf_view *v, uint8_t out[ELF_BUILD_ID_MAX])
{
    for (size_t i = 0; i < v->n_notes; i++) {
        const void *p = elf_view_at(v, v->notes[i], v->notes_n[i]);
        size_t n = p ? elf_note_build_id(p, v->notes_n[i], out) : 0;

        if (n)
            return n;
    }
    return 0;
}
