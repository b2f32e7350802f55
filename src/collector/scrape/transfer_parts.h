#ifndef COLLECTOR_SCRAPE_TRANSFER_PARTS_H
#define COLLECTOR_SCRAPE_TRANSFER_PARTS_H

#include "collector/scrape/transfer.h"
#include "fetch/curl.h"

/*
 * Shared by the files of a transfer; private to them.
 */
struct transfer {
    struct transfers *owner;
    const struct curl_api *api;
    struct transfer *prev, *next;
    CURL *easy;
    struct curl_slist *headers, *connect_to;
    struct buf body;
    size_t max_bytes;
    int64_t began_ns, timeout_ns;
    bool is_https, has_certificate;
    bool is_starved; /* all bodies together are too large */
    transfer_done *done;
    void *arg;
    char words[CURL_ERROR_SIZE]; /* libcurl's */
};

/* Sets URL, TLS, credentials and limits (transfer_setup.c). */
bool transfer_setup(struct transfer *x, const struct transfer_request *r,
                    struct error *err);

/* The failure as a message (transfer_failure.c). */
void transfer_judge(struct transfer *x, CURLcode rc,
                    struct transfer_result *out);

#endif
