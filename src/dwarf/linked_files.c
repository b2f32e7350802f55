/*
 * Debug information that is not in the file itself: the part that dwz moved to
 * a common file (.gnu_debugaltlink), and split units in .dwo files or .dwp
 * packages.  A split file must have the id that its skeleton names, otherwise
 * it belongs to another build and its lines would be wrong.
 */
#include "dwarf/linked_files.h"

#include <dwarf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "elf/view.h"

static bool join(char out[PATH_MAX], const char *directory, const char *name)
{
    int n = snprintf(out, PATH_MAX, "%s%s%s", directory, *directory ? "/" : "",
                     name);

    return n > 0 && n < PATH_MAX;
}

/* The directory of a file, "." for a bare name. */
static bool directory_of(char out[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    int n = slash ? snprintf(out, PATH_MAX, "%.*s", (int)(slash - path), path)
                  : snprintf(out, PATH_MAX, ".");

    return n >= 0 && n < PATH_MAX;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int open_file(struct dwarf_file *f, const char *path,
                     struct dwarf_work *work)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0 && !dwarf_file_open(f, fd, work)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* --- dwz's common file -------------------------------------------------- */

static bool has_build_id(const struct dwarf_file *f, const uint8_t *id,
                         size_t n)
{
    uint8_t found[ELF_BUILD_ID_MAX];

    return n && elf_file_build_id(&f->elf, found, sizeof(found)) == n &&
           memcmp(found, id, n) == 0;
}

static int try_alternate(const char *path, const uint8_t *id, size_t n,
                         struct dwarf_file *out, struct dwarf_work *work)
{
    int fd = open_file(out, path, work);

    if (fd >= 0 && !has_build_id(out, id, n)) {
        alternate_close(out, fd);
        fd = -1;
    }
    return fd;
}

int alternate_open(const struct elf_file *elf, const char *path,
                   struct dwarf_file *out, struct dwarf_work *work)
{
    const Elf64_Shdr *s = elf_file_find(elf, ".gnu_debugaltlink");
    char link[PATH_MAX], directory[PATH_MAX], full[PATH_MAX], hex[160];
    size_t name_n, id_n;
    int fd = -1;

    if (!s || s->sh_size == 0 || s->sh_size > sizeof(link) ||
        !elf_read_at(elf->fd, link, s->sh_size, s->sh_offset))
        return -1;
    name_n = strnlen(link, s->sh_size);
    id_n = name_n < s->sh_size ? s->sh_size - name_n - 1 : 0;
    if (id_n < 2 || id_n > ELF_BUILD_ID_MAX)
        return -1;
    const uint8_t *id = (const uint8_t *)link + name_n + 1;

    if (link[0] == '/')
        fd = try_alternate(link, id, id_n, out, work);
    else if (directory_of(directory, path) && join(full, directory, link))
        fd = try_alternate(full, id, id_n, out, work);
    if (fd < 0) {
        int at = snprintf(hex, sizeof(hex), "%02x/", id[0]);

        for (size_t i = 1; i < id_n; i++)
            at += snprintf(hex + at, sizeof(hex) - (size_t)at, "%02x", id[i]);
        snprintf(hex + at, sizeof(hex) - (size_t)at, ".debug");
        if (join(full, "/usr/lib/debug/.build-id", hex))
            fd = try_alternate(full, id, id_n, out, work);
    }
    return fd;
}

void alternate_close(struct dwarf_file *f, int fd)
{
    dwarf_file_release(f);
    close(fd);
}

/* --- packages of split units -------------------------------------------- */

void split_files_init(struct split_files *s, const char *path)
{
    *s = (struct split_files){.path = path, .package_fd = -1, .single_fd = -1};
}

void split_files_close(struct split_files *s, struct dwarf_abbrev_cache *cache)
{
    if (s->single_fd < 0)
        return;
    dwarf_abbrev_cache_forget(cache, &s->single);
    alternate_close(&s->single, s->single_fd);
    s->single_fd = -1;
}

void split_files_release(struct split_files *s,
                         struct dwarf_abbrev_cache *cache)
{
    split_files_close(s, cache);
    if (s->package_fd >= 0)
        alternate_close(&s->package, s->package_fd);
    s->package_fd = -1;
}

/* The index of a package: a hash table from id to row, then the rows of
 * section offsets. */
struct package_index {
    uint32_t version, columns, rows, slots;
    const uint8_t *ids, *row_of, *sections, *offsets;
};

static bool read_index(struct dwarf_file *f, struct package_index *x)
{
    struct elf_section *s = &f->sections[DWARF_CU_INDEX];
    const uint8_t *p = elf_section_at(s, 0, s->size);
    struct cursor c = cursor_of(p, p ? s->size : 0);

    x->version = cursor_u32(&c) & 0xffff;
    x->columns = cursor_u32(&c);
    x->rows = cursor_u32(&c);
    x->slots = cursor_u32(&c);
    if (c.bad || (x->version != 2 && x->version != 5) || x->columns > 16)
        return false;
    x->ids = c.at;
    cursor_skip(&c, (uint64_t)x->slots * 8);
    x->row_of = c.at;
    cursor_skip(&c, (uint64_t)x->slots * 4);
    x->sections = c.at;
    cursor_skip(&c, (uint64_t)x->columns * 4);
    x->offsets = c.at;
    return cursor_skip(&c, (uint64_t)x->rows * x->columns * 4) && !c.bad;
}

static uint32_t u32_at(const uint8_t *p, size_t index)
{
    uint32_t v;

    memcpy(&v, p + index * sizeof(v), sizeof(v));
    return v;
}

/* The row of an id, counted from one; 0: none. */
static uint32_t find_row(const struct package_index *x, uint64_t id)
{
    for (size_t i = 0; i < x->slots; i++) {
        uint64_t found;

        memcpy(&found, x->ids + i * sizeof(found), sizeof(found));
        if (found == id && u32_at(x->row_of, i))
            return u32_at(x->row_of, i);
    }
    return 0;
}

static bool packaged_unit(struct split_files *s, uint64_t id,
                          struct dwarf_unit *out)
{
    struct package_index x;
    struct dwarf_share share = {0};
    uint64_t info = 0;
    uint32_t row;

    if (!read_index(&s->package, &x) || !dwarf_spend(s->package.work, x.slots))
        return false;
    row = find_row(&x, id);
    if (row == 0 || row > x.rows)
        return false;
    for (size_t i = 0; i < x.columns; i++) {
        uint64_t at = u32_at(x.offsets, (row - 1) * (size_t)x.columns + i);

        switch (u32_at(x.sections, i)) {
        case DW_SECT_INFO:
            info = at;
            break;
        case DW_SECT_ABBREV:
            share.abbrev = at;
            break;
        case DW_SECT_STR_OFFSETS:
            share.str_offsets = at;
            break;
        case DW_SECT_RNGLISTS:
            share.rnglists = x.version == 5 ? at : 0;
            break;
        default:
            break;
        }
    }
    if (!dwarf_unit_header(&s->package, info, out))
        return false;
    out->share = share;
    return true;
}

static void open_package(struct split_files *s, struct dwarf_work *work)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s.dwp", s->path);

    s->looked_for_package = true;
    if (n > 0 && n < PATH_MAX)
        s->package_fd = open_file(&s->package, path, work);
}

/* --- single split files ------------------------------------------------- */

static void open_single(struct split_files *s,
                        const struct dwarf_unit *skeleton)
{
    const char *name = dwarf_text(skeleton, skeleton->dwo_name);
    const char *comp_dir = dwarf_text(skeleton, skeleton->comp_dir);
    struct dwarf_work *work = skeleton->file->work;
    char path[PATH_MAX], directory[PATH_MAX];

    if (!name)
        return;
    if (name[0] == '/')
        s->single_fd = open_file(&s->single, name, work);
    else if (join(path, comp_dir ? comp_dir : "", name))
        s->single_fd = open_file(&s->single, path, work);
    if (s->single_fd < 0 && directory_of(directory, s->path) &&
        join(path, directory, base_of(name)))
        s->single_fd = open_file(&s->single, path, work);
}

static bool single_unit(struct split_files *s, struct dwarf_abbrev_cache *cache,
                        uint64_t id, struct dwarf_unit *out)
{
    if (!dwarf_units_read(&s->single))
        return false;
    for (size_t i = 0; i < s->single.units.n; i++) {
        struct dwarf_unit *u = (struct dwarf_unit *)s->single.units.p + i;

        if (dwarf_unit_root(cache, u) && u->dwo_id == id) {
            *out = *u;
            return true;
        }
    }
    return false;
}

struct dwarf_unit *split_unit(struct split_files *s,
                              struct dwarf_abbrev_cache *cache,
                              const struct dwarf_unit *skeleton)
{
    struct dwarf_unit *u = &s->unit;
    bool found = false;

    if (!s->looked_for_package)
        open_package(s, skeleton->file->work);
    if (s->package_fd >= 0) {
        s->package.addresses = skeleton->file;
        found = packaged_unit(s, skeleton->dwo_id, u);
    }
    if (!found) {
        split_files_close(s, cache);
        open_single(s, skeleton);
        if (s->single_fd < 0)
            return NULL;
        s->single.addresses = skeleton->file;
        if (!single_unit(s, cache, skeleton->dwo_id, u))
            return NULL;
    }
    if (!dwarf_unit_root(cache, u))
        return NULL;
    u->addr_base = skeleton->addr_base;
    u->ranges_base = skeleton->split_ranges_base;
    u->base = skeleton->base;
    return u;
}
