/*
 * A line is made in one piece and written with one call, so that lines of
 * several threads and processes do not mix.
 */
#include "runtime/endpoint/audit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/say.h"

static void make_line(struct buf *line, const struct http_exchange *x,
                      int64_t took_ns)
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    buf_addf(line, "pprof: audit time=%04d-%02d-%02dT%02d:%02d:%02dZ who=",
             tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
             tm.tm_min, tm.tm_sec);
    http_add_quoted(line, str_from(x->identity.name));
    buf_addf(line, " from=%s what=", x->client->address);
    http_add_quoted(line, x->request->target);
    buf_addf(line, " status=%d bytes=%zu seconds=%.3f\n", x->status,
             x->body.len, (double)took_ns / 1e9);
}

static void write_line(const char *place, const struct buf *line)
{
    int fd;

    if (strcmp(place, "stderr") == 0) {
        say_line(buf_str(line));
        return;
    }
    fd = open(place,
              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                  O_NOCTTY | O_NONBLOCK,
              0600);
    if (fd < 0)
        return;
    (void)!write(fd, line->data, line->len); /* a full disk: fine */
    close(fd);
}

void audit_write(const struct serve_options *o, const struct http_exchange *x,
                 int64_t took_ns)
{
    const char *place = o->audit                 ? o->audit
                        : serve_options_guard(o) ? "stderr"
                                                 : "off";
    struct buf line = BUF_INIT((size_t)32 << 10);

    if (!o->on_audit && strcmp(place, "off") == 0)
        return;
    make_line(&line, x, took_ns);
    if (!buf_ok(&line))
        return buf_release(&line);
    if (o->on_audit)
        o->on_audit(o->audit_arg, buf_cstr(&line));
    else
        write_line(place, &line);
    buf_release(&line);
}
