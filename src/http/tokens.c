#include "http/tokens.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/stamp.h"

#define MAX_BYTES ((size_t)64 << 10)
#define LOOK_NS   1000000000

struct tokens {
    char *path;
    pthread_mutex_t lock; /* of all below */
    struct buf text;
    struct stamp stamp; /* of the file as it was read */
    int64_t next_look_ns;
};

static bool next_secret(struct str *rest, unsigned *line, struct str *out)
{
    while (str_next_line(rest, out)) {
        ++*line;
        *out = str_trim(*out);
        if (out->n > 0 && out->s[0] != '#')
            return true;
    }
    return false;
}

static bool fits(struct str secret, const struct credentials *c)
{
    ptrdiff_t colon = str_find_char(secret, ':');
    bool is_user, is_password;

    if (colon < 0)
        return credentials_equal(c->secret, secret);
    /* Both are always compared: how long it takes says nothing. */
    is_user = credentials_equal(c->user, str_first(secret, (size_t)colon));
    is_password =
        credentials_equal(c->secret, str_skip(secret, (size_t)colon + 1));
    return c->kind == CREDENTIALS_BASIC && is_user && is_password;
}

bool tokens_find(struct str text, const struct credentials *c, char *who,
                 size_t size)
{
    unsigned line = 0, found_line = 0;
    struct str secret, found = STR("");

    if (c->kind != CREDENTIALS_BASIC && c->kind != CREDENTIALS_BEARER)
        return false;
    while (next_secret(&text, &line, &secret)) {
        if (fits(secret, c)) {
            found = secret;
            found_line = line;
        }
    }
    if (found_line && str_find_char(found, ':') >= 0)
        snprintf(who, size, "user %" STR_FMT, STR_ARG(c->user));
    else if (found_line)
        snprintf(who, size, "token %u", found_line);
    return found_line != 0;
}

/* The stamp first: what changes meanwhile is seen the next time. */
static bool read_file(struct tokens *t, struct error *err)
{
    struct str rest, secret;
    unsigned line = 0;

    t->stamp = stamp_of(t->path);
    buf_clear(&t->text);
    if (!file_read(t->path, &t->text, err)) {
        buf_clear(&t->text);
        return false;
    }
    rest = buf_str(&t->text);
    return next_secret(&rest, &line, &secret) ||
           error_set(err, "%s: no token in it", t->path);
}

struct tokens *tokens_new(const char *path, struct error *err)
{
    struct tokens *t = calloc(1, sizeof(*t));

    if (t)
        t->path = strdup(path);
    if (!t || !t->path) {
        free(t);
        error_set(err, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    t->text = BUF_INIT(MAX_BYTES);
    if (read_file(t, err))
        return t;
    tokens_free(t);
    return NULL;
}

void tokens_free(struct tokens *t)
{
    if (!t)
        return;
    if (t->text.data)
        explicit_bzero(t->text.data, t->text.cap);
    buf_release(&t->text);
    pthread_mutex_destroy(&t->lock);
    free(t->path);
    free(t);
}

bool tokens_refresh(struct tokens *t, struct error *err)
{
    int64_t now_ns = clock_monotonic_ns();
    bool fine = true;

    pthread_mutex_lock(&t->lock);
    if (now_ns >= t->next_look_ns) {
        struct stamp now = stamp_of(t->path);

        t->next_look_ns = now_ns + LOOK_NS;
        if (memcmp(&now, &t->stamp, sizeof(now)) != 0)
            fine = read_file(t, err);
    }
    pthread_mutex_unlock(&t->lock);
    return fine;
}

bool tokens_have(struct tokens *t, const struct credentials *c, char *who,
                 size_t size)
{
    bool have;

    pthread_mutex_lock(&t->lock);
    have = tokens_find(buf_str(&t->text), c, who, size);
    pthread_mutex_unlock(&t->lock);
    return have;
}

bool tokens_are_exposed(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && (st.st_mode & (S_IRWXO | S_IWGRP)) != 0;
}
