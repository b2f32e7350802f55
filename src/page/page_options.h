#ifndef PAGE_PAGE_OPTIONS_H
#define PAGE_PAGE_OPTIONS_H

#include "base/arena.h"
#include "http/access/access_key.h"
#include "http/server/exchange.h"
#include "report/config.h"

/*
 * Options for making a page.  All texts must outlive the page.
 */
struct objects;   /* symbol/objects.h */
struct asset_set; /* page/assets.h */

struct page_options {
    /* Every request starts from these options. */
    const struct report_config *config;

    /*
     * What the program does for the page; each may be NULL.  They are called
     * by the threads of the server.
     */
    void *arg;
    /* Binaries for reports on code; memory from `a`. */
    const struct objects *(*objects)(void *arg, struct arena *a);
    /* A failed request, for the log or the terminal. */
    void (*tell)(void *arg, const char *words);
    /* Appends what /api/1/overview answers the client of this exchange, for
     * the list of services; false, with nothing appended: the page asks for
     * it.  The exchange is left as it was. */
    bool (*overview)(void *arg, struct http_exchange *x, struct buf *out);
    size_t overview_bytes; /* largest; 0: never */

    const char *settings; /* the file of saved configurations; NULL: none */
    const struct asset_set *assets; /* NULL: those for a single profile */
    const char *web_dir;  /* take the page's files from there; NULL: built in */
    size_t request_bytes; /* memory that one request may use; 0: any amount */
    bool local_only;      /* answer clients of this machine only */
    bool certificates_only;       /* … only those with a client certificate */
    const struct access_key *key; /* all others must have this key; NULL:
                                     none */
};

#endif
