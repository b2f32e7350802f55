/*
 * Loading OpenSSL into a process that may have one of its own, may fork at any
 * moment, and may be ending: see the header for why each call is counted.
 */
#include "http/tls/openssl.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define PATIENCE_NS 100000000

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct openssl table;
    bool is_loaded;
    unsigned inside; /* threads between _enter and _leave */
    bool is_forking; /* who enters waits */
    bool has_ended;  /* nobody enters any more */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

static bool fill(void *library, const char *name, void *place)
{
    void *found = dlsym(library, name);

    memcpy(place, &found, sizeof(found));
    return found != NULL;
}

#ifndef RTLD_DEEPBIND /* musl has none */
#define RTLD_DEEPBIND 0
#endif

/*
 * DEEPBIND: a program that has another OpenSSL or BoringSSL built in and
 * shows its names must not have them called by this one.  Sanitizers do not
 * allow it.
 */
static void *open_library(const char *name)
{
    static const char *const sanitizers[] = {"__asan_init", "__tsan_init",
                                             "__msan_init", "__ubsan_handle"};
    int flags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;

    for (size_t i = 0; i < sizeof(sanitizers) / sizeof(sanitizers[0]); i++)
        if (dlsym(RTLD_DEFAULT, sanitizers[i]))
            flags &= ~RTLD_DEEPBIND;
    return dlopen(name, flags);
}

static bool fill_table(struct openssl *t, struct error *err)
{
    void *ssl = open_library("libssl.so.3");
    void *crypto = ssl ? open_library("libcrypto.so.3") : NULL;
    bool ok = true;

    if (!ssl || !crypto)
        return error_set(err,
                         "TLS needs OpenSSL 3 (Debian's package libssl3): %s",
                         dlerror());
#define X(result, name, takes) ok &= fill(crypto, #name, &t->name);
    OPENSSL_CRYPTO_FUNCTIONS(X)
#undef X
#define X(result, name, takes) ok &= fill(ssl, #name, &t->name);
    OPENSSL_SSL_FUNCTIONS(X)
#undef X
    return ok ||
           error_set(err, "libssl.so.3 is not a supported version of OpenSSL");
}

/* With the lock: waits until no thread is inside, but not for ever. */
static void wait_for_others(void)
{
    struct timespec until = clock_timespec(clock_realtime_ns() + PATIENCE_NS);
    int rc = 0;

    while (state.inside > 0 && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&state.changed, &state.lock, &until);
}

/* Comes after the library's own initialisation, so at exit() before its
 * clean-up, if the program has asked for one. */
static void end(void)
{
    pthread_mutex_lock(&state.lock);
    state.has_ended = true;
    wait_for_others();
    pthread_mutex_unlock(&state.lock);
}

const struct openssl *openssl_load(struct error *err)
{
    const struct openssl *table = NULL;

    pthread_mutex_lock(&state.lock);
    if (!state.is_loaded && fill_table(&state.table, err)) {
        if (state.table.OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT_FLAG,
                                            NULL) &&
            state.table.OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT_FLAG, NULL))
            state.is_loaded = atexit(end) == 0;
        if (!state.is_loaded)
            error_set(err, "OpenSSL cannot be initialised");
    }
    if (state.is_loaded)
        table = &state.table;
    pthread_mutex_unlock(&state.lock);
    return table;
}

bool openssl_enter(void)
{
    bool may;

    pthread_mutex_lock(&state.lock);
    while (state.is_forking && !state.has_ended)
        pthread_cond_wait(&state.changed, &state.lock);
    may = !state.has_ended;
    if (may)
        state.inside++;
    pthread_mutex_unlock(&state.lock);
    return may;
}

void openssl_leave(void)
{
    pthread_mutex_lock(&state.lock);
    state.inside--;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}

void openssl_before_fork(void)
{
    pthread_mutex_lock(&state.lock);
    state.is_forking = true;
    wait_for_others();
}

void openssl_after_fork(bool in_child)
{
    static const pthread_cond_t fresh_cond = PTHREAD_COND_INITIALIZER;

    state.is_forking = false;
    if (in_child) {
        /* Locks of OpenSSL that a thread had are locked here for ever. */
        state.has_ended |= state.inside > 0;
        state.inside = 0;
        state.changed = fresh_cond;
    }
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}
