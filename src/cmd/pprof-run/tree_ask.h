#ifndef CMD_PPROF_RUN_TREE_ASK_H
#define CMD_PPROF_RUN_TREE_ASK_H

#include "base/arena.h"
#include "base/error.h"
#include "cmd/pprof-run/tree_processes.h"
#include "fetch/http_fetch.h"
#include "http/server/server.h"

/*
 * One request to many processes at the same time.
 */
struct tree_reply {
    const struct tree_process *process;
    bool is_answered; /* else see `error` */
    struct http_reply reply;
    struct error error;
};

struct tree_question {
    struct str target; /* "profile?seconds=5": below /debug/pprof/ */
    bool is_post;
    struct str body; /* of a POST */
    int64_t timeout_ns;
    size_t max_reply; /* bytes of one reply */
};

/*
 * Asks n processes; out[i] is the answer of processes[i], and the caller
 * releases it.  Ends early, with errors, when the client of x has gone.
 */
void tree_ask(const struct tree_place *place,
              const struct tree_process *processes, size_t n,
              const struct tree_question *question, struct http_exchange *x,
              struct tree_reply *out);
void tree_replies_release(struct tree_reply *replies, size_t n);

#endif
