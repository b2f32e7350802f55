#ifndef COLLECTOR_SCRAPE_REASON_H
#define COLLECTOR_SCRAPE_REASON_H

/*
 * Why a scrape failed, for metrics and the targets page: a small fixed set.
 * The error's text has the details.
 */
enum scrape_reason {
    SCRAPE_OK,
    SCRAPE_REFUSED,     /* nobody listens */
    SCRAPE_UNREACHABLE, /* no route, or the connection broke */
    SCRAPE_NO_HOST,     /* the name does not resolve */
    SCRAPE_TIMEOUT,
    SCRAPE_CERTIFICATE, /* either side's */
    SCRAPE_DENIED,      /* 401, 403 */
    SCRAPE_NO_PROFILE,  /* 404 */
    SCRAPE_STATUS,      /* another status */
    SCRAPE_TOO_LARGE,
    SCRAPE_INVALID, /* what came is no profile */
    SCRAPE_STORE,   /* the store could not take it */
    SCRAPE_LOCAL,   /* a file of the configuration cannot be read */
    SCRAPE_REASONS,
};

/* "connection refused", "no such profile" … */
const char *scrape_reason_words(enum scrape_reason reason);

#endif
