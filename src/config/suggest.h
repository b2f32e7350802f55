#ifndef CONFIG_SUGGEST_H
#define CONFIG_SUGGEST_H

#include "base/str.h"

/*
 * "Did you mean …?": the word that differs least from what was written, by
 * letters that are wrong, missing, too many or swapped with their neighbour.
 * NULL if no word is close: at most a third of the letters may differ.
 */
const char *suggest_word(struct str written, const char *const *words,
                         size_t n);

#endif
