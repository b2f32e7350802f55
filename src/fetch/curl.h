#ifndef FETCH_CURL_H
#define FETCH_CURL_H

#include <curl/curl.h>

#include "base/error.h"

/*
 * libcurl, loaded when the first URL is fetched.
 *
 * It brings thirty further libraries: linking it would more than double the
 * time that a program needs to start, for every run that reads only files.
 */
struct curl_api {
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    const char *(*easy_strerror)(CURLcode);
    void (*easy_cleanup)(CURL *);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);

    /* Many transfers on one thread: socket_action with the caller's own epoll
     * for thousands, perform and poll for a few. */
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
    CURLMcode (*multi_add_handle)(CURLM *, CURL *);
    CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
    CURLMcode (*multi_socket_action)(CURLM *, curl_socket_t, int, int *);
    CURLMsg *(*multi_info_read)(CURLM *, int *);
    CURLMcode (*multi_assign)(CURLM *, curl_socket_t, void *);
    CURLMcode (*multi_perform)(CURLM *, int *);
    CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned, int,
                            int *);
    CURLMcode (*multi_wakeup)(CURLM *); /* from any thread */
    CURLMcode (*multi_cleanup)(CURLM *);
};

/* Any thread may call this; NULL if libcurl is not installed. */
const struct curl_api *curl_load(struct error *err);

#endif
