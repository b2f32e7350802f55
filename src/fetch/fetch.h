#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "fetch/http_fetch.h"
#include "fetch/index.h"
#include "profile/profile.h"
#include "profile/read.h"

/*
 * A profile from wherever the user says: "-" is standard input, an existing
 * file is read, anything else is tried as a URL (see http_fetch.h for the
 * kinds; host:port/path without a scheme is http).
 */
struct fetch_options {
    struct http_options http;            /* certificates, headers, progress */
    int seconds, timeout;                /* of the flags; -1 if not given */
    const struct profile_limits *limits; /* NULL: the defaults */

    /* Progress messages for the user ("Fetching profile over HTTP from …"),
     * without LF.  May be called from several threads at a time. */
    void (*say)(void *arg, const char *words);
    void *say_arg;

    /* Called about once a second while a server measures, with the seconds that
     * are left; may be NULL.  Any thread may call it. */
    void (*progress)(void *arg, int seconds_left);
};

struct fetched {
    struct profile *profile; /* the caller's; NULL if it failed */
    struct error error;      /* why */
    /* Where it came from, if not a file, and the login that it needed; from
     * the arena. */
    struct str url, login;
};

/*
 * Fetches the index page that a URL ending in /debug/pprof/ names.  False with
 * err.text "" if the source is not such a URL.
 */
bool fetch_index(struct str source, const struct fetch_options *options,
                 struct arena *a, struct index_entries *out, struct error *err);

/*
 * Fetches n sources at the same time; out[i] belongs to sources[i].  One that
 * fails does not affect the others.
 */
void fetch_all(const struct str *sources, size_t n,
               const struct fetch_options *options, struct arena *a,
               struct fetched *out);

#endif
