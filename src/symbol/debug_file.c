/*
 * Looks for a separate debug file in the order that debuggers use: by build id
 * below /usr/lib/debug, by .gnu_debuglink beside the binary, then debuginfod
 * if the user has configured it.  A file counts only if its build id or
 * checksum matches.
 */
#include "symbol/debug_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/number.h"
#include "base/path.h"
#include "elf/view.h"

struct str debug_file_build_id(struct arena *a, const struct elf_file *elf)
{
    uint8_t id[ELF_BUILD_ID_MAX];
    size_t n = elf_file_build_id(elf, id, sizeof(id));
    char *text = arena_alloc(a, n * 2 + 1);

    return str_of(text, number_put_bytes(text, id, n));
}

bool debug_file_is_one(const struct elf_file *elf)
{
    return elf_file_find(elf, ".debug_info") ||
           elf_file_find(elf, ".zdebug_info");
}

/* --- candidates --------------------------------------------------------- */

struct search {
    struct arena *arena;
    struct str build_id;
    uint32_t checksum; /* of the link's file, if `by_name` */
    bool by_name;
    const char *found;
};

static bool has_checksum(int fd, uint32_t wanted)
{
    uLong sum = crc32(0, NULL, 0);
    unsigned char bytes[65536];
    ssize_t n;

    for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
        sum = crc32(sum, bytes, (unsigned)n);
    return n == 0 && sum == wanted;
}

static bool fits(const struct search *s, int fd)
{
    struct elf_file elf;
    bool ok;

    if (!elf_file_open(&elf, fd))
        return false;
    ok = debug_file_is_one(&elf);
    if (ok && s->build_id.n) {
        struct str id = debug_file_build_id(s->arena, &elf);

        ok = str_eq(id, s->build_id);
    } else if (ok && s->by_name) {
        ok = has_checksum(fd, s->checksum);
    }
    elf_file_release(&elf);
    return ok;
}

static int try_file(struct search *s, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0 && fits(s, fd)) {
        s->found = path;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static int try_build_id(struct search *s)
{
    if (s->build_id.n < 3)
        return -1;
    return try_file(
        s, arena_printf(s->arena,
                        "/usr/lib/debug/.build-id/%.2s/%" STR_FMT ".debug",
                        s->build_id.s, STR_ARG(str_skip(s->build_id, 2))));
}

/* --- .gnu_debuglink ----------------------------------------------------- */

/* A name, padded with NULs to four bytes, and a checksum. */
static const char *read_link(struct search *s, const struct elf_file *elf)
{
    const Elf64_Shdr *section = elf_file_find(elf, ".gnu_debuglink");
    char *link;
    size_t n;

    if (!section || section->sh_size < 8 || section->sh_size > PATH_MAX)
        return NULL;
    link = arena_alloc(s->arena, section->sh_size + 1);
    if (!elf_read_at(elf->fd, link, section->sh_size, section->sh_offset))
        return NULL;
    n = strnlen(link, section->sh_size);
    if (n == 0 || (n + 4) / 4 * 4 + 4 > section->sh_size || strchr(link, '/'))
        return NULL;
    memcpy(&s->checksum, link + (n + 4) / 4 * 4, sizeof(s->checksum));
    return link;
}

static int try_link(struct search *s, const struct elf_file *elf,
                    const char *path)
{
    const char *link = read_link(s, elf);
    struct str dir = path_dir(s->arena, str_from(path));
    char *real = link ? realpath(path, NULL) : NULL;
    struct str installed = real ? path_dir(s->arena, str_from(real)) : STR("/");
    int fd = -1;

    s->by_name = true;
    if (link)
        fd = try_file(
            s, arena_printf(s->arena, "%" STR_FMT "/%s", STR_ARG(dir), link));
    if (link && fd < 0)
        fd = try_file(s, arena_printf(s->arena, "%" STR_FMT "/.debug/%s",
                                      STR_ARG(dir), link));
    if (link && fd < 0)
        fd = try_file(s, arena_printf(s->arena, "/usr/lib/debug%" STR_FMT "/%s",
                                      STR_ARG(installed), link));
    s->by_name = false;
    free(real);
    return fd;
}

/* --- debuginfod --------------------------------------------------------- */

/* The library is loaded when it is needed: it brings half a dozen others. */
struct debuginfod {
    void *library;
    void *(*begin)(void);
    void (*end)(void *);
    int (*find)(void *, const unsigned char *, int, char **);
};

static bool load_debuginfod(struct debuginfod *d)
{
    d->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d->library)
        return false;
    *(void **)&d->begin = dlsym(d->library, "debuginfod_begin");
    *(void **)&d->end = dlsym(d->library, "debuginfod_end");
    *(void **)&d->find = dlsym(d->library, "debuginfod_find_debuginfo");
    return d->begin && d->end && d->find;
}

static int ask_debuginfod(struct search *s)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    struct debuginfod d;
    void *client;
    char *path = NULL;
    int fd = -1;

    if (!urls || !*urls || s->build_id.n == 0 || !load_debuginfod(&d))
        return -1;
    client = d.begin();
    if (client) {
        /* Length 0: the id is given as hex digits. */
        fd = d.find(client,
                    (const unsigned char *)arena_cstr(s->arena, s->build_id), 0,
                    &path);
        d.end(client);
    }
    if (fd >= 0 && path) {
        s->found = arena_cstr(s->arena, str_from(path));
        if (!fits(s, fd)) {
            close(fd);
            fd = -1;
        }
    }
    free(path);
    /* Not closed again: it has threads and atexit handlers of its own. */
    return fd < 0 ? -1 : fd;
}

int debug_file_find(struct arena *a, const struct elf_file *elf,
                    const char *path, struct str build_id,
                    const char **path_out)
{
    struct search s = {.arena = a, .build_id = build_id};
    int fd = try_build_id(&s);

    if (fd < 0)
        fd = try_link(&s, elf, path);
    if (fd < 0)
        fd = ask_debuginfod(&s);
    *path_out = s.found;
    return fd;
}
