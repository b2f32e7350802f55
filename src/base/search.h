#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/*
 * Binary search: the smallest `i` in [from, to) for which `holds`, an
 * expression of i, is true; `to` if there is none.  The expression must be
 * false up to some index and true from there on, as for sorted records:
 *
 *     next = search_first(i, 0, n, symbols[i].address > address);
 *     found = next ? &symbols[next - 1] : NULL;
 *
 * It calls nothing itself: signal handlers may use it.
 */
#define search_first(i, from, to, holds)                                       \
    __extension__({                                                            \
        size_t low_ = (from), high_ = (to);                                    \
                                                                               \
        while (low_ < high_) {                                                 \
            size_t i = low_ + (high_ - low_) / 2;                              \
                                                                               \
            if (holds)                                                         \
                high_ = i;                                                     \
            else                                                               \
                low_ = (i) + 1;                                                \
        }                                                                      \
        low_;                                                                  \
    })

#endif
