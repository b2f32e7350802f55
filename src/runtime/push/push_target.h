#ifndef RUNTIME_PUSH_PUSH_TARGET_H
#define RUNTIME_PUSH_PUSH_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "http/client/http_client.h"

/*
 * A collector, and one profile sent to it as profefe's clients do:
 *
 *     POST BASE/api/0/profiles?type=TYPE&service=SERVICE&labels=LABELS
 */
#define PUSH_PATH_MAX 512

struct push_target {
    struct http_url url;
    char shown[832];    /* the URL for messages, without user and password */
    char service[128];  /* as it is */
    char labels[16384]; /* escaped, see push_labels.h */
    bool has_pid;       /* and the label pid */
    /* Files; "": none.  They are read again for each profile. */
    char ca[PUSH_PATH_MAX], cert[PUSH_PATH_MAX], key[PUSH_PATH_MAX];
    char token_file[PUSH_PATH_MAX];
};

/* What the program says; NULL: the environment (env.h). */
struct push_target_options {
    const char *collector, *service, *labels;
    const char *ca, *cert, *key, *token_file;
};

/* False: no URL, or settings that do not go together.  Says on stderr how
 * many labels are left out, if there are too many. */
bool push_target_read(const struct push_target_options *asked,
                      struct push_target *out, struct error *err);

enum push_result {
    PUSH_STORED,
    PUSH_LATER,   /* a failure that may be temporary: no connection, timeout,
                     server error */
    PUSH_REFUSED, /* the collector refused this profile */
};

struct push_request {
    const char *type; /* "cpu" */
    const char *note; /* the label `note`, or NULL */
    struct str profile;
    int64_t deadline_ns;
};

/* What the collector asked for with Retry-After is in *retry_after_ns, else
 * 0.  Unless it is stored, err has the reason, without secrets. */
enum push_result push_send(const struct push_target *target,
                           const struct push_request *request,
                           int64_t *retry_after_ns, struct error *err);

#endif
