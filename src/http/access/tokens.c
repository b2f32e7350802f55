/*
 * The file is kept as text and searched line by line: a few kilobytes at
 * most, compared in a time that does not depend on which line fits.
 */
#include "http/access/tokens.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/file_version.h"

#define MAX_BYTES ((size_t)64 << 10)
#define LOOK_NS   1000000000

struct tokens {
    char *path;
    pthread_mutex_t lock; /* of all below */
    struct buf text;
    struct file_version stamp; /* of the file as it was read */
    int64_t next_look_ns;
};

/* A line of the file. */
struct secret {
    struct str text;
    unsigned scopes;
    struct str services; /* "": all */
    unsigned line;
    bool is_bad; /* an attribute is not understood */
};

static unsigned read_scopes(struct str list)
{
    unsigned scopes = 0;
    struct str one;

    while (str_split(&list, ',', &one)) {
        if (str_eq(one, STR("read")))
            scopes |= HTTP_MAY_READ;
        else if (str_eq(one, STR("write")))
            scopes |= HTTP_MAY_WRITE;
        else
            return 0;
    }
    return scopes;
}

/* Takes one attribute off the end of the line; false: there is none. */
static bool take_attribute(struct secret *s)
{
    const struct str scope = STR("scope="), services = STR("services=");
    size_t at = s->text.n;
    struct str word;

    while (at > 0 && s->text.s[at - 1] != ' ' && s->text.s[at - 1] != '\t')
        at--;
    word = str_skip(s->text, at);
    if (at == 0)
        return false;
    if (str_has_prefix(word, scope)) {
        s->scopes = read_scopes(str_skip(word, scope.n));
        s->is_bad |= s->scopes == 0;
    } else if (str_has_prefix(word, services)) {
        s->services = str_skip(word, services.n);
        s->is_bad |= s->services.n == 0 || s->services.n >= HTTP_SERVICES_MAX;
    } else {
        return false;
    }
    s->text = str_trim(str_first(s->text, at));
    return true;
}

static bool next_secret(struct str *rest, struct secret *out)
{
    unsigned line = out->line;
    struct str text;

    while (str_next_line(rest, &text)) {
        line++;
        text = str_trim(text);
        if (text.n == 0 || text.s[0] == '#')
            continue;
        *out = (struct secret){.text = text,
                               .scopes = HTTP_MAY_READ | HTTP_MAY_WRITE,
                               .services = STR(""),
                               .line = line};
        while (take_attribute(out))
            ;
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

static void identify(const struct secret *s, const struct credentials *c,
                     struct http_identity *out)
{
    *out =
        (struct http_identity){.is_authenticated = true, .scopes = s->scopes};
    if (str_find_char(s->text, ':') >= 0)
        snprintf(out->name, sizeof(out->name), "user %" STR_FMT,
                 STR_ARG(c->user));
    else
        snprintf(out->name, sizeof(out->name), "token %u", s->line);
    snprintf(out->services, sizeof(out->services), "%" STR_FMT,
             STR_ARG(s->services));
}

bool tokens_find(struct str text, const struct credentials *c,
                 struct http_identity *out)
{
    struct secret secret = {.line = 0}, found = {.line = 0};

    if (c->kind != CREDENTIALS_BASIC && c->kind != CREDENTIALS_BEARER)
        return false;
    while (next_secret(&text, &secret))
        if (fits(secret.text, c) && !secret.is_bad)
            found = secret;
    if (found.line)
        identify(&found, c, out);
    return found.line != 0;
}

bool tokens_check(struct str text, struct error *err)
{
    struct secret secret = {.line = 0};

    while (next_secret(&text, &secret))
        if (secret.is_bad)
            return error_set(
                err,
                "line %u: must have scope=read, scope=write or "
                "scope=read,write, and services= with at most %d bytes",
                secret.line, HTTP_SERVICES_MAX - 1);
    return secret.line != 0 || error_set(err, "no token in it");
}

/* The stamp first: what changes meanwhile is seen the next time. */
static bool read_file(struct tokens *t, struct error *err)
{
    t->stamp = file_version_of(t->path);
    buf_clear(&t->text);
    if (!file_read(t->path, &t->text, err)) {
        buf_clear(&t->text);
        return false;
    }
    if (tokens_check(buf_str(&t->text), err))
        return true;
    buf_clear(&t->text);
    return error_wrap(err, "%s", t->path);
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
        struct file_version now = file_version_of(t->path);

        t->next_look_ns = now_ns + LOOK_NS;
        if (memcmp(&now, &t->stamp, sizeof(now)) != 0)
            fine = read_file(t, err);
    }
    pthread_mutex_unlock(&t->lock);
    return fine;
}

bool tokens_have(struct tokens *t, const struct credentials *c,
                 struct http_identity *out)
{
    bool have;

    pthread_mutex_lock(&t->lock);
    have = tokens_find(buf_str(&t->text), c, out);
    pthread_mutex_unlock(&t->lock);
    return have;
}
