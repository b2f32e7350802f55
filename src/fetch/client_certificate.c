/*
 * People often have client.crt and client.key in one directory and give only
 * one of them.  The other is looked for by the usual naming schemes, and a
 * candidate counts only if its contents are of the right kind.
 */
#include "fetch/client_certificate.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define PEM_MAX ((size_t)1 << 20)

static bool file_contains(struct arena *a, struct str path, struct str words)
{
    struct buf text = BUF_INIT(PEM_MAX);
    struct error ignored;
    bool found = file_read(arena_cstr(a, path), &text, &ignored) &&
                 str_contains(buf_str(&text), words);

    buf_release(&text);
    return found;
}

/* path with its last `from` replaced by `to`; "" when it has no `from`. */
static struct str replaced(struct arena *a, struct str path, struct str from,
                           struct str to)
{
    for (size_t at = path.n; at-- > 0;)
        if (str_has_prefix(str_skip(path, at), from))
            return str_from(arena_printf(a, "%" STR_FMT "%" STR_FMT "%" STR_FMT,
                                         (int)at, path.s, STR_ARG(to),
                                         STR_ARG(str_skip(path, at + from.n))));
    return STR("");
}

struct naming {
    struct str key, cert;
};

static const struct naming namings[] = {
    {STR_INIT(".key"), STR_INIT(".crt")},
    {STR_INIT(".key"), STR_INIT(".pem")},
    {STR_INIT(".key"), STR_INIT(".cert")},
    {STR_INIT("-key.pem"), STR_INIT(".pem")},
    {STR_INIT("-key.pem"), STR_INIT("-cert.pem")},
    {STR_INIT("key"), STR_INIT("cert")},
    {STR_INIT("key"), STR_INIT("crt")},
};

static struct str find_beside(struct arena *a, struct str given, bool want_cert)
{
    for (size_t i = 0; i < sizeof(namings) / sizeof(namings[0]); i++) {
        struct str from = want_cert ? namings[i].key : namings[i].cert;
        struct str to = want_cert ? namings[i].cert : namings[i].key;
        struct str path = replaced(a, given, from, to);

        if (path.n && file_contains(a, path,
                                    want_cert ? STR("BEGIN CERTIFICATE")
                                              : STR("PRIVATE KEY-----")))
            return path;
    }
    return STR("");
}

bool client_certificate_complete(struct arena *a,
                                 struct client_certificate *files,
                                 struct str *note, struct error *err)
{
    bool want_cert = files->cert.n == 0;
    struct str given = want_cert ? files->key : files->cert;
    const char *have = want_cert ? "tls_key" : "tls_cert";
    const char *want = want_cert ? "tls_cert" : "tls_key";
    struct str found;

    *note = STR("");
    if ((files->cert.n == 0) == (files->key.n == 0))
        return true;
    if (file_contains(a, given,
                      want_cert ? STR("BEGIN CERTIFICATE")
                                : STR("PRIVATE KEY-----")))
        found = given;
    else
        found = find_beside(a, given, want_cert);
    if (found.n == 0)
        return error_set(err, "-%s is specified, so -%s must also be specified",
                         have, want);
    *note = str_from(
        arena_printf(a, "No -%s given: using %" STR_FMT, want, STR_ARG(found)));
    *(want_cert ? &files->cert : &files->key) = found;
    return true;
}
