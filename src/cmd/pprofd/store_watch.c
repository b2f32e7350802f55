/*
 * The store does not log: it keeps its last error among its figures, and this
 * file logs it.
 */
#include "cmd/pprofd/store_watch.h"

#include "base/clock.h"
#include "base/log.h"

void store_watch_look(struct store_watch *w, struct store *s, int64_t now_ns)
{
    struct store_stats stats = {.background_errors = 0};
    bool is_late = !w->said_ns || now_ns - w->said_ns >= MINUTE;
    bool is_up, is_new;

    store_get_stats(s, &stats);
    is_up = !stats.trouble[0];
    is_new = stats.background_errors > w->errors;
    if (stats.wal_lost_files > w->lost_files)
        log_error("profiles in the write-ahead log are lost: files are "
                  "damaged or deleted",
                  log_u64("files", stats.wal_lost_files - w->lost_files));
    w->lost_files = stats.wal_lost_files;
    if (is_up && !w->was_up)
        log_info("profiles are written to the store again");
    if (!is_up && (w->was_up || is_late))
        log_warn("profiles cannot be written to the store",
                 log_text("error", stats.trouble),
                 log_u64("profiles_in_log", stats.wal_profiles));
    else if (is_up && is_new && is_late)
        log_warn("background work of the store failed",
                 log_text("error", stats.last_background_error),
                 log_u64("failures", stats.background_errors - w->errors));
    else
        now_ns = w->said_ns; /* nothing was said */
    if (!is_up || now_ns != w->said_ns)
        w->errors = stats.background_errors;
    w->said_ns = now_ns;
    w->was_up = is_up;
}
