#include "cmd/pprof/ui.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define RED   "\033[0;31m"
#define PLAIN "\033[0m"

void ui_write(struct str text)
{
    struct error ignored; /* there is no way left to report it */

    file_write_fd(STDERR_FILENO, "stderr", text, &ignored);
}

/* One write for the line, so that lines of several threads do not mix. */
static void say(bool red, const char *fmt, va_list ap)
{
    struct buf b = BUF_INIT(BUF_OF_TOOL);

    if (red)
        buf_add(&b, STR(RED));
    buf_vaddf(&b, fmt, ap);
    if (red)
        buf_add(&b, STR(PLAIN));
    buf_add_char(&b, '\n');
    ui_write(buf_str(&b));
    buf_release(&b);
}

void ui_say(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(false, fmt, ap);
    va_end(ap);
}

void ui_complain(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(ui_colour(STDERR_FILENO), fmt, ap);
    va_end(ap);
}

bool ui_colour(int fd)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

bool ui_true_colour(void)
{
    const char *term = getenv("COLORTERM");

    return term &&
           (strcmp(term, "truecolor") == 0 || strcmp(term, "24bit") == 0);
}

int ui_columns(int fd)
{
    struct winsize size;

    if (!isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}
