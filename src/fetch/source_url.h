#ifndef FETCH_SOURCE_URL_H
#define FETCH_SOURCE_URL_H

#include "base/arena.h"
#include "base/str.h"

/*
 * What a source on the command line means as a URL: with the flags -seconds
 * and -timeout worked in.
 */
struct source_url {
    struct str url;      /* what to ask for; holds no password */
    struct str login;    /* "user:password" of the source; never to be shown */
    int64_t duration_ns; /* how long the server will measure; 0 = at once */
    int64_t timeout_ns;  /* how long to wait for the whole exchange */
    bool is_index;       /* it names the index page, not a profile */
};

/*
 * False when the text cannot be a URL.  A host without path means its CPU
 * profile, as with go tool pprof; seconds and timeout count from 1, less
 * means "not given".
 */
bool source_url_parse(struct arena *a, struct str source, int seconds,
                      int timeout, struct source_url *out);

/* The source as it may be shown: a URL loses user name and password. */
struct str source_shown(struct arena *a, struct str source);

#endif
