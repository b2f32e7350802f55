#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/*
 * The log of a daemon: one line for each event, on one sink.
 *
 *     log_info("listening", log_text("address", address));
 *     log_warn("profile refused", log_str("service", service),
 *              log_u64("bytes", n), log_failure(&err));
 *
 *     2026-05-06T07:08:09.123Z info listening address=127.0.0.1:10100
 *     2026-05-06T07:08:09.124Z warn profile refused service=api bytes=81
 *         error="profile is cut short"                       (all in one line)
 *
 * The message is a constant without values: the same event always has the same
 * message, so that logs can be searched and counted.  Values are quoted where
 * necessary, so that no value can fake another line or key.
 *
 * Nothing here allocates, and a line is written with one call: any thread may
 * log at any time, inside other people's programs too (but not in a signal
 * handler).  A line is cut after LOG_LINE_MAX bytes.
 *
 * Only programs log.  A library function returns its error, and the caller that
 * decides to go on logs it once.  Two kinds of output are not a log and do not
 * come here: what `pprof` says to its user on the terminal (cmd/pprof/ui.h),
 * and the few lines that libpprof writes to its host's stderr (runtime/say.h),
 * which people already search for by their wording.
 */
enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARN,
    LOG_LEVEL_ERROR,
};

#define LOG_LINE_MAX 4096 /* what a pipe takes at once, newline included */

struct log_field {
    const char *key;
    enum { LOG_TEXT, LOG_UNSIGNED, LOG_SIGNED, LOG_DURATION } kind;
    struct str text;
    uint64_t number;
};

struct log_field log_str(const char *key, struct str value);
struct log_field log_text(const char *key, const char *value); /* NULL: "" */
struct log_field log_u64(const char *key, uint64_t value);
struct log_field log_i64(const char *key, int64_t value);
struct log_field log_ns(const char *key, int64_t ns);  /* took=1.234s */
struct log_field log_failure(const struct error *err); /* error="…" */

#define log_debug(...) LOG_EVENT_(LOG_LEVEL_DEBUG, __VA_ARGS__, )
#define log_info(...)  LOG_EVENT_(LOG_LEVEL_INFO, __VA_ARGS__, )
#define log_warn(...)  LOG_EVENT_(LOG_LEVEL_WARN, __VA_ARGS__, )
#define log_error(...) LOG_EVENT_(LOG_LEVEL_ERROR, __VA_ARGS__, )

/* The fields become an array that starts with an empty one, since an array
 * cannot be empty. */
#define LOG_EVENT_(level, message, ...)                                        \
    (log_wants(level)                                                          \
         ? log_event((level), (message),                                       \
                     (const struct log_field[]){{0}, __VA_ARGS__},             \
                     sizeof((struct log_field[]){{0}, __VA_ARGS__}) /          \
                         sizeof(struct log_field))                             \
         : (void)0)

/* fields[0] is ignored. */
void log_event(enum log_level level, const char *message,
               const struct log_field *fields, size_t n);

/* Lines below this level are left out; info unless set. */
void log_set_level(enum log_level level);
bool log_wants(enum log_level level);

/* "debug", "info", "warn", "error"; false: none of them. */
bool log_level_parse(struct str text, enum log_level *out);

/* Where lines go, each with its newline; NULL: stderr.  Set it before threads
 * log. */
void log_set_sink(void (*sink)(void *arg, struct str line), void *arg);

#endif
