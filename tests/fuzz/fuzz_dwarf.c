/*
 * Binaries from untrusted sources, as the symboliser reads them: headers,
 * symbol tables, debug information, Go's table, packed symbols.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "symbol/object.h"

static void check_frames(void *arg, size_t index,
                         const struct symbol_frame *frames, size_t n)
{
    size_t *bytes = arg;

    (void)index;
    if (n == 0)
        abort();
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < frames[i].function.n; k++)
            *bytes += frames[i].function.s[k] != '\0';
}

/* Some addresses of every loaded segment. */
static size_t pick_addresses(int fd, uint64_t *out, size_t max)
{
    struct elf_file f;
    size_t n = 0;

    if (!elf_file_open(&f, fd))
        return 0;
    for (size_t i = 0; i < f.n_segments && i < 8; i++)
        for (size_t k = 0; k < 32 && n < max; k++)
            out[n++] = f.segments[i].p_vaddr + k * 7;
    elf_file_release(&f);
    return n;
}

static void resolve(const char *path, const uint64_t *addresses, size_t n)
{
    struct object_mapping whole = {.limit = UINT64_MAX};
    struct object_mapping mapped = {
        .start = 0x555555554000, .limit = 0x555555664000, .offset = 0};
    struct error err;
    size_t bytes = 0, n_symbols;
    uint64_t address;
    struct object *o = object_open(path, whole, &err);

    if (!o)
        return;
    object_symbols(o, &n_symbols);
    object_resolve(o, addresses, n, false, check_frames, &bytes, &err);
    object_free(o);
    o = object_open(path, mapped, &err);
    if (o)
        object_file_address(o, mapped.start + 0x1000, &address, &err);
    object_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t addresses[256];
    char path[64];
    size_t n;
    int fd = memfd_create("binary", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    n = pick_addresses(fd, addresses, 256);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    resolve(path, addresses, n);
    close(fd);
    return 0;
}
