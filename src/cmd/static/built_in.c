/*
 * What static programs have instead of dlopen.
 *
 * The rooms load libcurl and OpenSSL when they are needed.  A static program
 * cannot: it has them built in.  The linker sends its calls of dlopen, dlsym,
 * dlclose and dlerror here (--wrap), so no room knows of the difference, and
 * nothing is ever loaded from the disk.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "http/tls/openssl.h"

#define X(result, name, takes) extern __typeof__(result takes) name;
OPENSSL_CRYPTO_FUNCTIONS(X)
OPENSSL_SSL_FUNCTIONS(X)
#undef X

/* curl's headers have macros of the same names, which check arguments. */
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

struct function {
    const char *name;
    void (*address)(void);
};

#define FUNCTION(name) {#name, (void (*)(void))(name)},

static const struct function curl[] = {
    /* clang-format off */
    FUNCTION(curl_global_init)
    FUNCTION(curl_easy_init)
    FUNCTION(curl_easy_setopt)
    FUNCTION(curl_easy_perform)
    FUNCTION(curl_easy_getinfo)
    FUNCTION(curl_easy_strerror)
    FUNCTION(curl_easy_cleanup)
    FUNCTION(curl_slist_append)
    FUNCTION(curl_slist_free_all)
    FUNCTION(curl_multi_init)
    FUNCTION(curl_multi_setopt)
    FUNCTION(curl_multi_add_handle)
    FUNCTION(curl_multi_remove_handle)
    FUNCTION(curl_multi_socket_action)
    FUNCTION(curl_multi_info_read)
    FUNCTION(curl_multi_assign)
    FUNCTION(curl_multi_perform)
    FUNCTION(curl_multi_poll)
    FUNCTION(curl_multi_wakeup)
    FUNCTION(curl_multi_cleanup)
    /* clang-format on */
    {NULL, NULL},
};

static const struct function openssl[] = {
#define X(result, name, takes) FUNCTION(name)
    OPENSSL_CRYPTO_FUNCTIONS(X) OPENSSL_SSL_FUNCTIONS(X)
#undef X
        {NULL, NULL},
};

static const struct library {
    const char *name;
    const struct function *functions;
} libraries[] = {
    {"libcurl.so.4", curl},
    {"libssl.so.3", openssl},
    {"libcrypto.so.3", openssl},
};

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *library, const char *name);
int __wrap_dlclose(void *library);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)flags;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (name && strcmp(name, libraries[i].name) == 0)
            return (void *)&libraries[i];
    return NULL;
}

void *__wrap_dlsym(void *handle, const char *name)
{
    const struct library *library = handle;
    const struct function *f = NULL;
    void *found = NULL;

    if (handle != RTLD_DEFAULT && handle != RTLD_NEXT)
        for (f = library->functions; f->name && strcmp(f->name, name) != 0;)
            f++;
    if (f)
        memcpy(&found, &f->address, sizeof(found));
    return found;
}

int __wrap_dlclose(void *library)
{
    (void)library;
    return 0;
}

char *__wrap_dlerror(void)
{
    static char text[] = "a static program loads no library";

    return text;
}
