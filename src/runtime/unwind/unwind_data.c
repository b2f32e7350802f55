#include "runtime/unwind/unwind_data.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.h"
#include "elf/cfi.h"
#include "elf/eh_frame.h"
#include "elf/symbols.h"

/* Up to here copying is cheaper than opening, checking and mapping. */
#define SMALL_BYTES (64u << 10)

/* Where in the file a vaddr is. */
static bool file_offset(const struct frames_file *file, uint64_t vaddr,
                        uint64_t *out)
{
    for (size_t i = 0; i < file->n_phdr; i++) {
        const Elf64_Phdr *ph = &file->phdr[i];

        if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
            vaddr - ph->p_vaddr < ph->p_filesz) {
            *out = ph->p_offset + (vaddr - ph->p_vaddr);
            return true;
        }
    }
    return false;
}

/* The n bytes at a vaddr out of the file, if that is the one which was
 * loaded.  *skip is where they begin in the first page. */
static bool map_file(struct unwind_data *f, const struct frames_file *file,
                     uint64_t vaddr, size_t n, size_t *skip)
{
    uint64_t offset, in_page;
    void *p = MAP_FAILED;
    int fd;

    if (file->build_id_n == 0 || !file_offset(file, vaddr, &offset))
        return false;
    fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    in_page = offset % (uint64_t)sysconf(_SC_PAGESIZE);
    if (elf_fd_has_build_id(fd, file->build_id, file->build_id_n))
        p = mmap(NULL, n + in_page, PROT_READ, MAP_PRIVATE, fd,
                 (off_t)(offset - in_page));
    close(fd);
    if (p == MAP_FAILED)
        return false;
    *f = (struct unwind_data){p, n + in_page};
    *skip = in_page;
    return true;
}

static bool copy(struct unwind_data *f, const uint8_t *bytes, size_t n)
{
    *f = (struct unwind_data){pages_alloc(n), n};
    if (f->p)
        memcpy(f->p, bytes, n);
    return f->p != NULL;
}

/* Where the file's section headers say that .eh_frame is; 0: not known. */
static uint64_t find_in_file(const struct frames_file *file)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    uint64_t at = 0;

    if (fd < 0)
        return 0;
    if (elf_fd_has_build_id(fd, file->build_id, file->build_id_n))
        at = elf_eh_frame_of_fd(fd);
    close(fd);
    return at;
}

bool unwind_data_take(struct unwind_data *f, struct elf_view *v,
                      const struct frames_file *file)
{
    struct cfi c;
    uint64_t first;
    size_t n, skip = 0;

    *f = (struct unwind_data){0};
    if (v->eh_frame_hdr == 0)
        v->eh_frame = find_in_file(file);
    if (!cfi_open(&c, v))
        return false;
    /* To the end of the segment, because the end of .eh_frame is not known. */
    first = c.hdr == 0 || c.eh_frame < c.hdr ? c.eh_frame : c.hdr;
    n = c.n - (size_t)(first - c.vaddr);
    if ((n <= SMALL_BYTES || !map_file(f, file, first, n, &skip)) &&
        !copy(f, c.bytes + (first - c.vaddr), n))
        return false;
    v->n_segments = 1;
    v->segments[0] = (struct elf_segment){
        .vaddr = first, .bytes = (uint8_t *)f->p + skip, .n = n};
    return true;
}
