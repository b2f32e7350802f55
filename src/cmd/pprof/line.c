/*
 * libedit goes on reading after an interrupted read(2), so that Ctrl-C would
 * have no effect until the next key.  It is therefore given our own function
 * for reading a character.  Without a terminal, lines are read as they are and
 * nothing is echoed.
 */
#include "cmd/pprof/line.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#include "base/utf8.h"
#include "cmd/pprof/history_file.h"
#include "cmd/pprof/interrupt.h"
#include "cmd/pprof/ui.h"

#define REMEMBERED  2000
#define MOST_LISTED ((size_t)100)

struct line_reader {
    struct arena *arena;
    const char *prompt;
    line_complete *complete;
    void *arg;

    bool terminal;
    FILE *screen; /* where the prompt goes: stdout may be a file */
    char *text;   /* of getline */
    size_t text_size;

    bool cancelled;   /* a Ctrl-C ended the line */
    EditLine *editor; /* NULL where lines are just read */
    History *history;
    struct history_file file;
};

static struct line_reader *reader_of(EditLine *editor)
{
    struct line_reader *r;

    el_get(editor, EL_CLIENTDATA, &r);
    return r;
}

static char *prompt(EditLine *editor)
{
    return (char *)reader_of(editor)->prompt;
}

struct str line_common_start(const struct line_completions *c, struct str typed)
{
    struct str common = c->words.n ? c->words.v[0] : STR("");

    for (size_t i = 1; i < c->words.n; i++) {
        struct str word = c->words.v[i];
        size_t n = 0;

        while (n < common.n && n < word.n && common.s[n] == word.s[n])
            n++;
        common = str_first(common, n);
    }
    /* Not half a character. */
    while (common.n && c->words.n > 1 && (common.s[common.n - 1] & 0x80))
        common.n--;
    return common.n > typed.n && str_contains(common, typed) ? common : STR("");
}

/* The words in columns below the line. */
static void list(struct line_reader *r, const struct line_completions *c)
{
    size_t shown = c->words.n < MOST_LISTED ? c->words.n : MOST_LISTED;
    size_t widest = 1, columns;
    int width = ui_columns(fileno(r->screen));

    for (size_t i = 0; i < shown; i++) {
        size_t n = utf8_count(str_trim(c->words.v[i]));
        widest = n > widest ? n : widest;
    }
    columns = width > 0 ? (size_t)width / (widest + 2) : 1;
    columns = columns ? columns : 1;
    for (size_t i = 0; i < shown; i++) {
        struct str word = str_trim(c->words.v[i]);
        size_t pad = widest + 2 - utf8_count(word);
        bool last = (i + 1) % columns == 0 || i + 1 == shown;

        fprintf(r->screen, "%s%" STR_FMT "%*s", i % columns ? "" : "\n",
                STR_ARG(word), last ? 0 : (int)pad, "");
    }
    if (shown < c->words.n)
        fprintf(r->screen, "\n... and %zu more", c->words.n - shown);
    fputc('\n', r->screen);
    fflush(r->screen);
}

static unsigned char on_tab(EditLine *editor, int key)
{
    struct line_reader *r = reader_of(editor);
    const LineInfo *info = el_line(editor);
    struct str before =
        str_of(info->buffer, (size_t)(info->cursor - info->buffer));
    struct arena *a = arena_new();
    struct line_completions c = {.start = before.n};
    unsigned char result = CC_ERROR;

    (void)key;
    before = arena_str(a, before);
    r->complete(r->arg, a, before, &c);
    struct str typed = str_skip(before, c.start);
    struct str common = line_common_start(&c, typed);
    if (common.n || c.words.n == 1) {
        if (c.words.n == 1)
            common = c.words.v[0];
        el_deletestr(editor, (int)utf8_count(typed));
        el_insertstr(editor, arena_cstr(a, common));
        result = CC_REFRESH;
    } else if (c.words.n > 1) {
        list(r, &c);
        result = CC_REDISPLAY;
    }
    arena_free(a);
    return result;
}

/* The next character for libedit, which itself would read on after an
 * interrupted read. */
static int next_character(EditLine *editor, wchar_t *out)
{
    struct line_reader *r = reader_of(editor);
    mbstate_t state = {0};
    char byte;

    for (;;) {
        if (!interrupt_wait_readable(STDIN_FILENO)) {
            r->cancelled = true;
            return -1;
        }
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        size_t used = mbrtowc(out, &byte, 1, &state);
        if (used == 0 || used == 1)
            return 1;
        if (used == (size_t)-1) { /* not a character: as it is */
            *out = (unsigned char)byte;
            return 1;
        }
    }
}

static void remember(struct line_reader *r, struct str line)
{
    HistEvent event;
    char *text = arena_cstr(r->arena, line);

    history(r->history, &event, H_ENTER, text);
}

static void start_editor(struct line_reader *r)
{
    HistEvent event;

    setlocale(LC_CTYPE, ""); /* for characters of several bytes */
    r->editor = el_init("pprof", stdin, r->screen, stderr);
    r->history = history_init();
    if (!r->editor || !r->history)
        return;
    el_set(r->editor, EL_CLIENTDATA, r);
    el_set(r->editor, EL_PROMPT, prompt);
    el_set(r->editor, EL_EDITOR, "emacs");
    el_set(r->editor, EL_SIGNAL, 1);
    el_set(r->editor, EL_GETCFN, next_character);
    el_set(r->editor, EL_HIST, history, r->history);
    /* el_set would keep copies of these texts for good. */
    el_wset(r->editor, EL_ADDFN, L"pprof-complete", L"Complete the word",
            on_tab);
    el_set(r->editor, EL_BIND, "^I", "pprof-complete", NULL);
    el_set(r->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(r->editor, NULL); /* the user's ~/.editrc */
    history(r->history, &event, H_SETSIZE, REMEMBERED);
    history(r->history, &event, H_SETUNIQUE, 1);
    history_file_open(&r->file, r->arena);
    for (size_t i = 0; i < r->file.lines.n; i++)
        remember(r, r->file.lines.v[i]);
}

struct line_reader *line_reader_new(const char *words, line_complete *complete,
                                    void *arg)
{
    struct arena *a = arena_new();
    struct line_reader *r = arena_alloc(a, sizeof(*r));
    const char *term = getenv("TERM");

    *r = (struct line_reader){
        .arena = a,
        .prompt = words,
        .complete = complete,
        .arg = arg,
        .terminal = isatty(STDIN_FILENO),
        .screen = isatty(STDOUT_FILENO) ? stdout : stderr,
    };
    if (r->terminal && term && *term && strcmp(term, "dumb") != 0)
        start_editor(r);
    return r;
}

void line_reader_free(struct line_reader *r)
{
    if (r->editor)
        el_end(r->editor);
    if (r->history)
        history_end(r->history);
    free(r->text);
    arena_free(r->arena);
}

static struct str without_end(const char *text, size_t n)
{
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    return str_of(text, n);
}

static enum line_result read_plain(struct line_reader *r, struct str *out)
{
    ssize_t n;

    if (r->terminal) {
        fputs(r->prompt, r->screen);
        fflush(r->screen);
    }
    bool cancelled = r->terminal && !interrupt_wait_readable(STDIN_FILENO);
    n = cancelled ? -1 : getline(&r->text, &r->text_size, stdin);
    if (n >= 0) {
        *out = without_end(r->text, (size_t)n);
        return LINE_READ;
    }
    if (r->terminal)
        fputc('\n', r->screen);
    return cancelled ? LINE_CANCELLED : LINE_END;
}

static enum line_result read_edited(struct line_reader *r, struct str *out)
{
    int n = 0;

    r->cancelled = false;
    /* Before the prompt shows: libedit itself would do it after, and lose a
     * Ctrl-D that comes in between. */
    el_set(r->editor, EL_PREP_TERM, 1);
    const char *text = el_gets(r->editor, &n);
    if (!text || n <= 0 || r->cancelled) {
        el_reset(r->editor);
        fputc('\n', r->screen);
        fflush(r->screen);
        return r->cancelled ? LINE_CANCELLED : LINE_END;
    }
    *out = without_end(text, (size_t)n);
    if (str_trim(*out).n) {
        remember(r, *out);
        history_file_add(&r->file, *out);
    }
    return LINE_READ;
}

enum line_result line_read(struct line_reader *r, struct str *out)
{
    return r->editor ? read_edited(r, out) : read_plain(r, out);
}
