/*
 * A report is made in memory and delivered when it is complete, so that an
 * error leaves no half-written file.  Only reports that can be larger than the
 * profile itself (traces, folded stacks, raw text) are written while they are
 * made.
 */
#include "cmd/pprof/output.h"

#include <unistd.h>

#include "base/file.h"
#include "cmd/pprof/numbered.h"
#include "cmd/pprof/picture.h"
#include "cmd/pprof/ui.h"
#include "cmd/pprof/viewer.h"
#include "page/file_source.h"
#include "page/page.h"
#include "report/report.h"
#include "symbol/objects.h"

#define SHELL_TOP_NODES 10

static bool write_named(struct str name, struct str bytes, struct error *err)
{
    struct arena *a = arena_new();
    const char *path = arena_cstr(a, name);

    ui_say("Generating report in %s", path);
    bool ok = file_write(path, bytes, err);
    arena_free(a);
    return ok;
}

static bool write_numbered(const char *extension, struct str bytes,
                           struct error *err)
{
    struct arena *a = arena_new();
    const char *name = numbered_file(
        a, "profile", arena_printf(a, ".%s", extension), 0666, err);
    bool ok = false;

    if (name) {
        ui_say("Generating report in %s", name);
        ok = file_write(name, bytes, err);
        if (!ok)
            unlink(name);
    }
    arena_free(a);
    return ok;
}

static bool view(const struct output_request *q, struct str bytes,
                 struct error *err)
{
    struct arena *a = arena_new();
    const char *path =
        q->viewed ? q->viewed : viewer_file(a, q->command->extension, err);
    bool ok = path && file_write(path, bytes, err) &&
              viewer_show(q->command->viewer, path, !q->in_shell, err);

    if (path && !q->viewed)
        unlink(path);
    arena_free(a);
    return ok;
}

static bool deliver(const struct output_request *q, struct str bytes,
                    struct error *err)
{
    const struct command *c = q->command;
    bool person = q->in_shell || isatty(STDOUT_FILENO);

    if (q->config->output.n)
        return write_named(q->config->output, bytes, err);
    if (c->viewer && !q->piped)
        return view(q, bytes, err);
    if (c->extension && person && !q->piped)
        return write_numbered(c->extension, bytes, err);
    return file_write_fd(STDOUT_FILENO, "/dev/stdout", bytes, err);
}

static const struct objects *objects_of(void *arg, struct arena *a)
{
    const struct output_request *q = arg;
    struct objects *objects = arena_alloc(a, sizeof(*objects));

    *objects = objects_local(a, q->tools);
    return objects;
}

/* The page with all its data. */
static bool make_page(const struct profile *p, const struct output_request *q,
                      struct buf *out, struct error *err)
{
    struct page_options options = {
        .config = q->config, .arg = (void *)q, .objects = objects_of};
    struct file_source_options files = {0};
    struct page *page = page_new(
        file_source((struct profile_pair){.profile = profile_copy(p)}, &files),
        &options);
    bool ok = page_write(page, out, err);

    page_free(page);
    return ok;
}

/*
 * A report that goes out while it is being made: traces of a large profile
 * are larger than the profile.  Only what is written as text to stdout or to
 * a named file goes this way.
 */
struct stream {
    const struct output_request *request;
    struct buf *warnings;
    bool started;
    struct arena *arena; /* of the file's name */
    struct file_writer file;
};

static bool stream_start(struct stream *s, struct error *err)
{
    struct str name = s->request->config->output;

    ui_write(buf_str(s->warnings)); /* they come first */
    buf_clear(s->warnings);
    if (name.n) {
        s->arena = arena_new();
        ui_say("Generating report in %" STR_FMT, STR_ARG(name));
        if (!file_writer_open(&s->file, arena_cstr(s->arena, name), err)) {
            arena_free(s->arena);
            return false;
        }
    }
    s->started = true;
    return true;
}

static bool stream_add(void *arg, struct str bytes, struct error *err)
{
    struct stream *s = arg;

    if (!s->started && !stream_start(s, err))
        return false;
    return s->arena ? file_writer_add(&s->file, bytes, err)
                    : file_write_fd(STDOUT_FILENO, "/dev/stdout", bytes, err);
}

/* The rest, if all went well so far. */
static bool stream_end(struct stream *s, bool ok, struct str rest,
                       struct error *err)
{
    ok = ok && stream_add(s, rest, err);
    if (s->arena) {
        ok = file_writer_close(&s->file, ok, err);
        arena_free(s->arena);
    }
    return ok;
}

static bool can_stream(const struct command *c)
{
    return !c->viewer && !c->extension && !c->graphviz;
}

/* The report, drawn if it is to be a picture; or what is left of it if it is
 * under way in the stream. */
static bool make(struct profile *p, const struct output_request *q,
                 struct stream *stream, struct buf *out, struct error *err)
{
    struct buf dot = BUF_INIT(BUF_OF_TOOL);
    struct buf warnings = BUF_INIT(BUF_OF_TOOL);
    struct buf aside = BUF_INIT(BUF_OF_TOOL);
    struct arena *a = arena_new();
    struct objects objects = objects_local(a, q->tools);
    bool to_terminal = q->config->output.n == 0 && isatty(STDOUT_FILENO);
    struct report_request request = {
        .format = q->command->format,
        .argument = q->argument,
        .config = q->config,
        .objects = &objects,
        .aside = &aside,
        .default_nodecount = q->in_shell ? SHELL_TOP_NODES : 0,
        .columns = to_terminal ? ui_columns(STDOUT_FILENO) : 0,
        .colour = to_terminal && ui_colour(STDOUT_FILENO),
        .true_colour = ui_true_colour(),
        .drain = can_stream(q->command) ? stream_add : NULL,
        .drain_arg = stream,
    };
    const char *picture = q->command->graphviz;
    struct error ignored;
    bool ok;

    stream->warnings = &warnings;
    ok = report_write(p, &request, picture ? &dot : out, &warnings, err);
    ui_write(buf_str(&warnings));
    if (aside.len)
        file_write_fd(STDOUT_FILENO, "/dev/stdout", buf_str(&aside), &ignored);
    if (ok && picture)
        ok = picture_draw(picture, buf_str(&dot), out, err);
    buf_release(&dot);
    buf_release(&warnings);
    buf_release(&aside);
    arena_free(a);
    return ok;
}

bool output_report(struct profile *p, const struct output_request *q,
                   struct error *err)
{
    struct buf report = BUF_INIT(BUF_OF_TOOL);
    struct stream stream = {.request = q};
    bool ok = q->command->is_page ? make_page(p, q, &report, err)
                                  : make(p, q, &stream, &report, err);

    if (stream.started)
        ok = stream_end(&stream, ok, buf_str(&report), err);
    else
        ok = ok && deliver(q, buf_str(&report), err);
    buf_release(&report);
    return ok;
}
