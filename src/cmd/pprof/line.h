#ifndef CMD_PPROF_LINE_H
#define CMD_PPROF_LINE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * Lines from the user.  At a terminal they are edited (libedit), remembered
 * in a file, and completed by the function given; from a pipe or a dumb
 * terminal they are just read.
 */
struct line_reader;

/*
 * What may stand instead of the text from `start` to the cursor.  The words
 * end in what follows them when they are the only one: "top ", "focus=".
 */
struct line_completions {
    size_t start;
    VEC(struct str) words;
};

/* Fills *out (its memory from `a`) for the text before the cursor. */
typedef void line_complete(void *arg, struct arena *a, struct str before,
                           struct line_completions *out);

struct line_reader *line_reader_new(const char *prompt, line_complete *complete,
                                    void *arg);
void line_reader_free(struct line_reader *r);

enum line_result {
    LINE_READ,
    LINE_CANCELLED, /* Ctrl-C */
    LINE_END,
};

/* The next line without its end; valid until the next call. */
enum line_result line_read(struct line_reader *r, struct str *out);

/*
 * What the words have in common at their starts, if the user's text is a
 * part of it: that much can be typed for them.  "" otherwise.
 */
struct str line_common_start(const struct line_completions *c,
                             struct str typed);

#endif
