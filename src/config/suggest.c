#include "config/suggest.h"

#define LONGEST 64

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Optimal string alignment; both are at most LONGEST bytes. */
static size_t distance(struct str a, struct str b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2], *spare;

    for (size_t j = 0; j <= b.n; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            bool differ = a.s[i - 1] != b.s[j - 1];

            now[j] =
                smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + differ);
            if (i > 1 && j > 1 && a.s[i - 1] == b.s[j - 2] &&
                a.s[i - 2] == b.s[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b.n];
}

const char *suggest_word(struct str written, const char *const *words, size_t n)
{
    size_t best = written.n / 3 + 1;
    const char *found = NULL;

    if (written.n == 0 || written.n > LONGEST)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct str word = str_from(words[i]);
        size_t d = word.n <= LONGEST ? distance(written, word) : LONGEST;

        if (d < best) {
            best = d;
            found = words[i];
        }
    }
    return found;
}
