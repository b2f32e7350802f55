#ifndef KUBE_LIST_WATCH_H
#define KUBE_LIST_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "kube/json_stream.h"
#include "kube/pod_table.h"

/*
 * Keeps a table of pods equal to a collection of the API server: lists it in
 * pages, then watches it from the list's resourceVersion on.
 *
 *      +--> LIST --complete--> WATCH --ended, failed--> WATCH again
 *      |                         |
 *      +------ expired (410) ----+
 *
 * It makes no connections itself: the caller sends its requests and passes it
 * the replies.
 *
 *     if (now_ns >= lw.due_ns && !lw.is_busy) {
 *         list_watch_begin(&lw, now_ns, &path);      // GET this
 *         …
 *         list_watch_answer(&lw, status, retry_after_ns);
 *         ok = list_watch_body(&lw, bytes);          // false: hang up
 *         …
 *         list_watch_end(&lw, is_whole, words, now_ns);
 *     }
 *
 * It handles this behaviour of API servers:
 *
 * - resourceVersion of the first page counts: a list in pages is one moment.
 *   A continue token that has expired (410) starts the list again.
 * - Too old a resourceVersion is an ERROR event of code 410 in a watch with
 *   status 200; after a restart of the server that happens although nothing
 *   was lost.  The list is repeated after a pause, and changes only what is
 *   different.
 * - A server that has just started answers 403 for rights that exist.  No
 *   failure ever removes pods: it is tried again, with longer pauses.
 * - A resourceVersion from the future (a cluster restored from a backup) is
 *   watched without any event.  A healthy server sends a BOOKMARK before
 *   timeoutSeconds are over, so a watch that was silent to its regular end
 *   leads to a list.
 * - An event can be larger than what one read brings, and come in any pieces.
 */
struct list_watch_options {
    struct str namespace_name; /* "": all */
    struct str label_selector, field_selector;
    unsigned source; /* in the table */
    int page;        /* pods in one page of a list */
    int watch_seconds;
    int64_t min_pause_ns, max_pause_ns;
    size_t max_object_bytes;
};

enum list_watch_phase { LISTING, WATCHING };

struct list_watch {
    struct list_watch_options options;
    struct pod_table *table;

    enum list_watch_phase phase;
    bool is_busy;   /* a request is under way */
    int64_t due_ns; /* when the next one shall be sent */

    /* What was learned. */
    char version[64]; /* resourceVersion to watch from */
    struct buf page;  /* continue token; "": the first page */
    uint64_t mark;    /* of the list under way, or the last one */

    /* The request under way. */
    int64_t began_ns;
    int status;
    int64_t retry_after_ns;
    struct json_stream stream;
    struct buf complaint; /* the body of a reply that is not 200 */
    bool has_events, is_expired, has_metadata;
    struct error failure; /* found in the body; "" if none */

    /* For people. */
    struct error problem; /* why it is not up to date; "" if it is */
    struct error bad_pod; /* the last pod that could not be stored */
    int64_t listed_ns;    /* realtime of the last complete list; 0: never */
    uint64_t lists, watches, events;
    unsigned failures; /* in a row */
    uint64_t random;
};

void list_watch_init(struct list_watch *lw,
                     const struct list_watch_options *options,
                     struct pod_table *table);
void list_watch_release(struct list_watch *lw);

/* Appends path and query of the request to send now. */
void list_watch_begin(struct list_watch *lw, int64_t now_ns, struct buf *url);

void list_watch_answer(struct list_watch *lw, int status,
                       int64_t retry_after_ns);

/* False: nothing more of this reply is wanted. */
bool list_watch_body(struct list_watch *lw, struct str bytes);

/* The reply is over: with its regular end, or cut off for the reason in
 * `words`. */
void list_watch_end(struct list_watch *lw, bool is_whole, const char *words,
                    int64_t now_ns);

/* Returns true if it is watching without problems. */
bool list_watch_is_fine(const struct list_watch *lw);

#endif
