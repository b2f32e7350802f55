#include "fetch/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct curl_api api;
static char failure[512]; /* "" when it is loaded */

/* ISO C knows no way from an object pointer to a function's; POSIX does. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        snprintf(failure, sizeof(failure), "libcurl has no %s", name);
        return false;
    }
    *(void **)function = symbol;
    return true;
}

static bool find_multi(void *library)
{
    return find(library, "curl_multi_init", &api.multi_init) &&
           find(library, "curl_multi_setopt", &api.multi_setopt) &&
           find(library, "curl_multi_add_handle", &api.multi_add_handle) &&
           find(library, "curl_multi_remove_handle",
                &api.multi_remove_handle) &&
           find(library, "curl_multi_socket_action",
                &api.multi_socket_action) &&
           find(library, "curl_multi_info_read", &api.multi_info_read) &&
           find(library, "curl_multi_assign", &api.multi_assign) &&
           find(library, "curl_multi_perform", &api.multi_perform) &&
           find(library, "curl_multi_poll", &api.multi_poll) &&
           find(library, "curl_multi_wakeup", &api.multi_wakeup) &&
           find(library, "curl_multi_cleanup", &api.multi_cleanup);
}

static void load(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    CURLcode (*global_init)(long);

    if (!library) {
        snprintf(failure, sizeof(failure), "cannot load libcurl: %s",
                 dlerror());
        return;
    }
    if (find(library, "curl_global_init", &global_init) &&
        find(library, "curl_easy_init", &api.easy_init) &&
        find(library, "curl_easy_setopt", &api.easy_setopt) &&
        find(library, "curl_easy_perform", &api.easy_perform) &&
        find(library, "curl_easy_getinfo", &api.easy_getinfo) &&
        find(library, "curl_easy_strerror", &api.easy_strerror) &&
        find(library, "curl_easy_cleanup", &api.easy_cleanup) &&
        find(library, "curl_slist_append", &api.slist_append) &&
        find(library, "curl_slist_free_all", &api.slist_free_all) &&
        find_multi(library))
        global_init(CURL_GLOBAL_DEFAULT);
}

const struct curl_api *curl_load(struct error *err)
{
    pthread_once(&once, load);
    if (!failure[0])
        return &api;
    error_set(err, "%s", failure);
    return NULL;
}
