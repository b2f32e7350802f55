/*
 * The file is only appended to, one line at a time, so that several shells can
 * use it at once.  It is cut to its newest lines when a shell starts.
 */
#include "cmd/pprof/history_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define MOST_LINES ((size_t)2000)
#define MOST_BYTES ((size_t)16 << 20)

/* The file's name; makes its directories, which are nobody else's. */
static const char *find_path(struct arena *a)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (!state || state[0] != '/') {
        if (!home || home[0] != '/')
            return NULL;
        mkdir(arena_printf(a, "%s/.local", home), 0700);
        state = arena_printf(a, "%s/.local/state", home);
    }
    mkdir(state, 0700);
    char *directory = arena_printf(a, "%s/pprof", state);
    mkdir(directory, 0700);
    return arena_printf(a, "%s/history", directory);
}

static void cut(struct history_file *h)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL);
    struct error ignored;

    h->lines.v += h->lines.n - MOST_LINES / 2;
    h->lines.n = MOST_LINES / 2;
    for (size_t i = 0; i < h->lines.n; i++) {
        buf_add(&b, h->lines.v[i]);
        buf_add_char(&b, '\n');
    }
    file_write(h->path, buf_str(&b), &ignored);
    buf_release(&b);
}

void history_file_open(struct history_file *h, struct arena *a)
{
    struct buf b = BUF_INIT(MOST_BYTES);
    struct str rest, line;
    struct error ignored;

    *h = (struct history_file){.path = find_path(a)};
    if (h->path && file_read(h->path, &b, &ignored)) {
        rest = arena_str(a, buf_str(&b));
        while (str_next_line(&rest, &line))
            *vec_push(a, &h->lines) = line;
        if (h->lines.n > MOST_LINES)
            cut(h);
    }
    buf_release(&b);
}

void history_file_add(const struct history_file *h, struct str line)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL);
    struct error ignored;
    int fd =
        h->path ? open(h->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                : -1;

    if (fd < 0)
        return;
    buf_add(&b, line);
    buf_add_char(&b, '\n');
    file_write_fd(fd, h->path, buf_str(&b), &ignored);
    buf_release(&b);
    close(fd);
}
