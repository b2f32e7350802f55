#ifndef ELF_VIEW_H
#define ELF_VIEW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ELF object by its virtual addresses, whether it is a file in memory or
 * a module that the loader has mapped.  Owns nothing: the bytes must outlive
 * the view.  64-bit little-endian only, the machine's own kind.
 *
 * Nothing in the object is trusted: only elf_view_at/elf_view_rest turn an
 * address into a pointer, after checking it.
 */
#define ELF_MAX_SEGMENTS 16

struct elf_segment {
    uint64_t vaddr;
    const uint8_t *bytes;
    size_t n;
    bool executable;
};

struct elf_view {
    struct elf_segment segments[ELF_MAX_SEGMENTS];
    size_t n_segments;
    uint64_t bias;                         /* run-time minus virtual address */
    uint64_t eh_frame_hdr, eh_frame_hdr_n; /* vaddr and size; 0: none */
    uint64_t eh_frame; /* vaddr, if there is no eh_frame_hdr; 0: unknown */
    uint64_t dynamic, dynamic_n;
    uint64_t notes[4], notes_n[4];
    size_t n_notes;
    uint64_t text_start, text_limit; /* vaddrs of all executable segments */
};

/* A whole ELF file in memory.  False: not an ELF file of this machine. */
bool elf_view_file(struct elf_view *v, const void *bytes, size_t n);

/* A module mapped at `bias`, with the loader's copy of its headers. */
void elf_view_module(struct elf_view *v, uint64_t bias, const Elf64_Phdr *phdr,
                     size_t n_phdr);

/* The n bytes at a vaddr, or NULL when they are not all in one segment. */
const void *elf_view_at(const struct elf_view *v, uint64_t vaddr, size_t n);

/* All bytes from vaddr to the end of its segment; NULL when in none. */
const uint8_t *elf_view_rest(const struct elf_view *v, uint64_t vaddr,
                             size_t *n_out);

/* The GNU build id: its bytes copied to out; their number, 0 when none. */
#define ELF_BUILD_ID_MAX 64
size_t elf_build_id(const struct elf_view *v, uint8_t out[ELF_BUILD_ID_MAX]);

/* The same from the bytes of a note segment. */
size_t elf_note_build_id(const void *notes, size_t n,
                         uint8_t out[ELF_BUILD_ID_MAX]);

#endif
