#ifndef CMD_PPROFD_STORE_WATCH_H
#define CMD_PPROFD_STORE_WATCH_H

#include "store/store.h"

/* What has been logged about the store. */
struct store_watch {
    bool was_up; /* at first: true */
    uint64_t errors, lost_files;
    int64_t said_ns;
};

/* Logs problems of the store: when they begin, once a minute while they last,
 * and when they are over.  A loss is always logged. */
void store_watch_look(struct store_watch *w, struct store *s, int64_t now_ns);

#endif
