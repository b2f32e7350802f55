#ifndef CMD_KUBECTL_PPROF_SESSION_H
#define CMD_KUBECTL_PPROF_SESSION_H

#include "cmd/kubectl-pprof/arguments.h"
#include "kube/kubectl_secret.h"
#include "kube/preset.h"
#include "kube/way_in.h"

/*
 * One run of kubectl-pprof: what the user wants, and how kubectl is called.
 */
struct session {
    struct arena *arena;
    const struct arguments *args;
    struct kubectl kubectl;
    struct kubectl_secret secret;
    struct way_options way;
    struct preset preset; /* all empty without one */
    /* Rights that turned out to be missing; guarded by lock. */
    VEC(struct kube_right) missing;
    bool has_choice; /* one of them is enough: there are several ways in */
};

/* Exit codes.  kubectl's own is 1 for everything. */
enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERRUPTED = 130,
};

void session_init(struct session *s, struct arena *a,
                  const struct arguments *args);
void session_release(struct session *s);

/* Loads the preset and the certificates that the arguments name.  Reports a
 * failure. */
bool session_prepare(struct session *s);

/* Was there a Ctrl-C? */
bool session_is_stopped(void);

/* A sentence on stderr, with the name of the program. */
void session_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says "WHAT: words" and remembers a missing right.  EXIT_FAILED, or
 * EXIT_INTERRUPTED. */
int session_fail(struct session *s, const char *what,
                 const struct kubectl_failure *why);

void session_note_rights(struct session *s, const struct kube_right *rights,
                         size_t n);

/* Prints the role to ask for, if rights were missing. */
void session_print_rights(const struct session *s);

/* The pods that the arguments name; reports if there are none.  Pods that
 * cannot be reached are reported and skipped. */
bool session_find_pods(struct session *s, const struct words *names,
                       struct kubectl_pods *out, int *code);

#endif
