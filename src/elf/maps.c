#include "elf/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/search.h"

static bool take_hex(struct str *rest, char sep, uint64_t *out)
{
    struct str word;

    return str_split(rest, sep, &word) && str_to_u64(word, 16, out);
}

bool maps_parse_line(struct str line, struct maps_entry *out)
{
    struct maps_entry e = {0};
    struct str flags, device, inode;

    if (!take_hex(&line, '-', &e.start) || !take_hex(&line, ' ', &e.limit) ||
        !str_split(&line, ' ', &flags) || flags.n < 4 ||
        !take_hex(&line, ' ', &e.offset) || !str_split(&line, ' ', &device) ||
        !str_split(&line, ' ', &inode) || !str_to_u64(inode, 10, &e.inode) ||
        e.limit < e.start)
        return false;
    e.readable = flags.s[0] == 'r';
    e.writable = flags.s[1] == 'w';
    e.executable = flags.s[2] == 'x';
    e.is_shared = flags.s[3] == 's';
    while (line.n && line.s[0] == ' ')
        line = str_skip(line, 1);
    if (str_has_suffix(line, STR(" (deleted)")))
        line = str_first(line, line.n - 10);
    e.path = line;
    *out = e;
    return true;
}

static bool read_all(struct pages_vec *text, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = false;

    if (fd < 0)
        return false;
    for (;;) {
        size_t used = text->n;
        char *room = pages_vec_push(text, 16384);
        ssize_t n;

        if (!room)
            break;
        n = read(fd, room, 16384);
        text->n = used + (n > 0 ? (size_t)n : 0);
        if (n == 0) {
            ok = true;
            break;
        }
        if (n < 0 && errno != EINTR)
            break;
    }
    close(fd);
    return ok;
}

bool maps_read(struct maps *m, const char *path)
{
    struct str rest, line;
    struct maps_entry e;

    *m = (struct maps){.entries = {.size = sizeof(e)}, .text = {.size = 1}};
    if (!read_all(&m->text, path))
        return false;
    rest = str_of(m->text.p, m->text.n);
    while (str_next_line(&rest, &line)) {
        struct maps_entry *to;

        if (!maps_parse_line(line, &e))
            continue;
        to = pages_vec_push(&m->entries, 1);
        if (!to)
            return false;
        *to = e;
    }
    return true;
}

void maps_release(struct maps *m)
{
    pages_vec_release(&m->entries);
    pages_vec_release(&m->text);
}

const struct maps_entry *maps_find(const struct maps *m, uint64_t address)
{
    size_t n = m->entries.n;
    size_t at = search_first(i, 0, n, maps_at(m, i)->limit > address);
    const struct maps_entry *e = at < n ? maps_at(m, at) : NULL;

    return e && e->start <= address ? e : NULL;
}
