#ifndef CMD_FLAGS_H
#define CMD_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * Command line flags in the syntax of Go's flag package, which users of
 * pprof know: -f, --f, -f=value, -f value (not for booleans).  Flags end at
 * the first other word, at "--", or before a lone "-".
 */
enum flag_kind {
    FLAG_BOOL,  /* bool */
    FLAG_INT,   /* int */
    FLAG_FLOAT, /* double */
    FLAG_TEXT,  /* struct str: the last one given */
    FLAG_LIST,  /* struct flag_list: every one given */
};

struct flag_list {
    VEC(struct str) texts;
};

struct flag {
    struct str name;
    enum flag_kind kind;
    void *target; /* a variable of the kind's type; holds the default */
};

enum flags_result {
    FLAGS_OK,
    FLAGS_HELP, /* -h or -help, and no such flag is in the table */
    FLAGS_BAD,  /* err says why */
};

/*
 * Reads words[0..n) and sets the targets.  *rest is the number of words used
 * up: the first argument that is not a flag.  Texts are views of the words.
 */
enum flags_result flags_parse(const struct flag *flags, size_t n_flags,
                              struct arena *a, char *const *words, int n,
                              int *rest, struct error *err);

#endif
