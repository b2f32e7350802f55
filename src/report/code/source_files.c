/*
 * The name in a profile is that of the machine that built the program.  It is
 * tried as it is, then below each directory of -source_path and its parents,
 * then in Go's own directories for names that -trimpath left.
 */
#include "report/code/source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "report/path_trim.h"

/* Longer lines end a listing: the original reads no further. */
#define LINE_MAX_BYTES 65535
#define FILE_MAX_BYTES ((size_t)256 << 20)

void source_files_init(struct source_files *s, struct arena *a,
                       struct str source_path, struct str trim_path)
{
    *s = (struct source_files){
        .arena = a, .trim_path = trim_path, .search_path = source_path};
    if (source_path.n == 0) {
        char *cwd = get_current_dir_name();

        s->search_path = arena_str(a, str_from(cwd));
        free(cwd);
    }
}

static int open_file(struct arena *a, struct str path)
{
    return open(arena_cstr(a, path),
                O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* dir/name, clean. */
static struct str join(struct arena *a, struct str dir, struct str name)
{
    struct str joined;

    if (dir.n == 0)
        return path_clean(a, name);
    joined = str_from(
        arena_printf(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(dir), STR_ARG(name)));
    return path_clean(a, joined);
}

static int open_on_path(const struct source_files *s, struct str name)
{
    struct str rest = s->search_path, dir;

    while (str_split(&rest, ':', &dir))
        for (;;) {
            int fd = open_file(s->arena, join(s->arena, dir, name));
            struct str parent = path_dir(s->arena, dir);

            if (fd >= 0)
                return fd;
            if (str_eq(parent, dir))
                break;
            dir = parent;
        }
    return -1;
}

/* What follows the first `mark` in the name; all of a relative name. */
static struct str after(struct str name, struct str mark)
{
    ptrdiff_t at = str_find(name, mark);

    if (at >= 0)
        return str_skip(name, (size_t)at + mark.n);
    return str_has_prefix(name, STR("/")) ? STR("") : name;
}

static int open_below(struct arena *a, const char *dir, const char *below,
                      struct str name)
{
    if (!dir || !*dir || name.n == 0)
        return -1;
    return open_file(a, str_from(arena_printf(a, "%s%s/%" STR_FMT, dir, below,
                                              STR_ARG(name))));
}

/* The module cache spells upper-case letters "!a", so that file systems
 * that do not tell them apart can hold it; -trimpath names do not. */
static struct str escape_module(struct arena *a, struct str name)
{
    ptrdiff_t version = str_find_char(name, '@');
    char *to = arena_alloc(a, 2 * name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.s[i];

        if ((ptrdiff_t)i < version && c >= 'A' && c <= 'Z') {
            to[n++] = '!';
            c = (char)(c - 'A' + 'a');
        }
        to[n++] = c;
    }
    return str_of(to, n);
}

/* Where the Go that a shell would start is installed; NULL if there is none.
 * The command is ROOT/bin/go, often by way of links. */
static const char *find_go_root(struct arena *a)
{
    struct str rest = str_from(getenv("PATH")), dir;
    const struct str command = STR("/bin/go");

    while (str_split(&rest, ':', &dir)) {
        char *path =
            realpath(arena_printf(a, "%" STR_FMT "/go", STR_ARG(dir)), NULL);
        struct str found = arena_str(a, str_from(path));

        free(path);
        if (str_has_suffix(found, command))
            return arena_cstr(a, str_first(found, found.n - command.n));
    }
    return NULL;
}

/* A source file of Go's library or of a module, on this machine. */
static int open_go_source(struct arena *a, struct str name)
{
    struct str in_root = after(name, STR("/go/src/"));
    struct str in_cache = escape_module(a, after(name, STR("/pkg/mod/")));
    const char *home = getenv("HOME");
    int fd = open_below(a, getenv("GOROOT"), "/src", in_root);

    if (fd < 0)
        fd = open_below(a, find_go_root(a), "/src", in_root);
    if (fd < 0)
        fd = open_below(a, getenv("GOMODCACHE"), "", in_cache);
    if (fd < 0)
        fd = open_below(a, getenv("GOPATH"), "/pkg/mod", in_cache);
    if (fd < 0)
        fd = open_below(a, home, "/go/pkg/mod", in_cache);
    return fd;
}

/* An open file, or -1 and the reason in the original's words. */
static int open_source(struct source_files *s, struct source_file *f)
{
    struct str name = path_trim(f->name, s->trim_path, s->search_path);
    struct error err;
    int fd;

    if (str_has_prefix(name, STR("/"))) {
        fd = open_file(s->arena, name);
        if (fd < 0)
            error_set_os(&err, "open", arena_cstr(s->arena, name), errno);
    } else {
        fd = open_on_path(s, name);
        if (fd < 0)
            error_set(&err,
                      "could not find file %" STR_FMT " on path %" STR_FMT,
                      STR_ARG(name), STR_ARG(s->search_path));
    }
    if (fd < 0)
        fd = open_go_source(s->arena, f->name);
    if (fd < 0)
        f->error = arena_str(s->arena, str_from(err.text));
    return fd;
}

static void split_lines(struct source_files *s, struct source_file *f,
                        struct str text)
{
    while (text.n > 0) {
        ptrdiff_t end = str_find_char(text, '\n');
        struct str line = str_first(text, end < 0 ? text.n : (size_t)end);

        if (line.n > LINE_MAX_BYTES)
            return;
        text = str_skip(text, line.n + 1);
        if (str_has_suffix(line, STR("\r")))
            line.n--;
        *vec_push(s->arena, &f->lines) = line;
    }
}

static void read_source(struct source_files *s, struct source_file *f)
{
    struct buf text = arena_buf(s->arena);
    int fd = open_source(s, f);
    struct error err;

    if (fd < 0)
        return;
    text.max = FILE_MAX_BYTES;
    /* What opens but cannot be read (a directory) has no lines. */
    bool ok = file_read_fd(fd, "source", &text, &err);
    close(fd);
    if (ok)
        split_lines(s, f, buf_str(&text));
}

static struct source_file *find_file(const struct source_files *s,
                                     struct str name)
{
    for (size_t i = 0; i < s->files.n; i++)
        if (str_eq(s->files.v[i]->name, name))
            return s->files.v[i];
    return NULL;
}

bool source_files_have(const struct source_files *s, struct str name)
{
    return find_file(s, name) != NULL;
}

const struct source_file *source_files_get(struct source_files *s,
                                           struct str name)
{
    struct source_file *f = find_file(s, name);

    if (f)
        return f;
    f = arena_alloc(s->arena, sizeof(*f));
    f->name = arena_str(s->arena, name);
    read_source(s, f);
    *vec_push(s->arena, &s->files) = f;
    return f;
}

bool source_line(const struct source_file *f, int64_t line, struct str *out)
{
    if (line < 1 || (uint64_t)line > f->lines.n)
        return false;
    *out = f->lines.v[line - 1];
    return true;
}
