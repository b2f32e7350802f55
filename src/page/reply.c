/*
 * What every reply of the page has in common: the headers that keep a browser
 * from guessing types and from running anything that is not ours, compression,
 * and errors in the form that the client expects (text, or JSON for data).
 */
#include "page/reply.h"

#include <errno.h>

#include "base/gzip.h"
#include "base/html.h"
#include "base/json.h"

#define WORTH_GZIP 512

/* What a page may load and do: its own files, its own data, the scripts and
 * the style that are in it, nothing else. */
#define POLICY                                                                 \
    "default-src 'none'; script-src 'self' %" STR_FMT                          \
    "; style-src 'self' %" STR_FMT "; img-src 'self' data: blob:; "            \
    "connect-src 'self'; font-src 'none'; frame-ancestors 'none'; "            \
    "base-uri 'none'; form-action 'none'"

static void header(struct page_request *q, const char *name, struct str value)
{
    http_exchange_header(q->x, name, value);
}

const struct asset_set *request_assets(const struct page_request *q)
{
    const struct asset_set *set = q->page->options.assets;

    return set ? set : &page_assets;
}

/* Can a page of another site hold a handle of this window?  The header that
 * takes it away makes the browser start a process, so it is left out where
 * there is none: the user typed the address or came from the page itself.  On
 * this machine alone the browser's own walls between sites are enough. */
static bool may_have_opener(const struct page_request *q)
{
    struct str from = http_request_header(q->x->request, STR("Sec-Fetch-Site"));

    return !q->page->options.local_only && !str_eq(from, STR("none")) &&
           !str_eq(from, STR("same-origin"));
}

static void add_safety(struct page_request *q)
{
    const struct asset_set *set = request_assets(q);
    const char *policy =
        arena_printf(q->arena, POLICY, STR_ARG(set->script_hashes),
                     STR_ARG(set->style_hash));

    header(q, "X-Content-Type-Options", STR("nosniff"));
    header(q, "Content-Security-Policy", str_from(policy));
    header(q, "Referrer-Policy", STR("no-referrer"));
    header(q, "Cross-Origin-Resource-Policy", STR("same-origin"));
    if (may_have_opener(q))
        header(q, "Cross-Origin-Opener-Policy", STR("same-origin"));
}

bool request_wants_html(const struct page_request *q)
{
    return http_header_lists(http_request_header(q->x->request, STR("Accept")),
                             STR("text/html"));
}

/* gzip in place of the plain body. */
static void compress(struct page_request *q)
{
    struct http_exchange *x = q->x;
    struct buf packed = BUF_INIT(x->body.max);
    struct error ignored;

    if (!gzip_deflate(buf_str(&x->body), &packed, &ignored)) {
        buf_release(&packed);
        return;
    }
    buf_release(&x->body);
    x->body = packed;
    header(q, "Content-Encoding", STR("gzip"));
}

bool request_takes_gzip(const struct page_request *q)
{
    return http_header_lists(
        http_request_header(q->x->request, STR("Accept-Encoding")),
        STR("gzip"));
}

void reply_bytes(struct page_request *q, struct str type)
{
    header(q, "Content-Type", type);
    add_safety(q);
}

void reply_body(struct page_request *q, struct str type)
{
    reply_bytes(q, type);
    header(q, "Vary", STR("Accept-Encoding"));
    if (q->x->body.len >= WORTH_GZIP && request_takes_gzip(q))
        compress(q);
}

void reply_packed(struct page_request *q, struct str type)
{
    reply_bytes(q, type);
    header(q, "Vary", STR("Accept-Encoding"));
    header(q, "Content-Encoding", STR("gzip"));
}

void reply_text(struct page_request *q, int status, struct str words)
{
    q->x->status = status;
    buf_clear(&q->x->body);
    buf_add(&q->x->body, words);
    buf_add_char(&q->x->body, '\n');
    header(q, "Cache-Control", STR("no-store"));
    reply_body(q, STR("text/plain; charset=utf-8"));
}

void reply_json_error(struct page_request *q, int status, struct str words)
{
    struct json j;

    q->x->status = status;
    buf_clear(&q->x->body);
    j = json_start(&q->x->body, 0);
    json_open(&j, '{');
    json_key(&j, STR("error"));
    json_string(&j, words);
    json_close(&j, '}');
    header(q, "Cache-Control", STR("no-store"));
    reply_body(q, STR("application/json"));
}

static void tell(const struct page_request *q, const struct error *err)
{
    const struct page_options *o = &q->page->options;

    if (o->tell)
        o->tell(o->arg, err->text);
}

static int failure_status(const struct error *err)
{
    return err->code == ENOMEM ? 503 : 400;
}

void reply_failure(struct page_request *q, const struct error *err)
{
    tell(q, err);
    reply_text(q, failure_status(err), str_from(err->text));
}

void reply_json_failure(struct page_request *q, const struct error *err)
{
    tell(q, err);
    reply_json_error(q, failure_status(err), str_from(err->text));
}

/* Go's http.Redirect says so in a page too, but only for paths of its own
 * making. */
static void add_redirect_page(struct page_request *q, struct str to)
{
    buf_add(&q->x->body, STR("<a href=\""));
    buf_add_html(&q->x->body, to);
    buf_addf(&q->x->body, "\">%s</a>.\n\n", http_status_words(q->x->status));
}

void reply_redirect(struct page_request *q, int status, const char *to)
{
    struct buf location = arena_buf(q->arena);
    struct str query = q->x->request->query;

    buf_add(&location, str_from(to));
    if (query.n > 0) {
        buf_add_char(&location, '?');
        buf_add(&location, query);
    }
    q->x->status = status;
    header(q, "Location", buf_str(&location));
    if (str_eq(str_from(to), STR("/ui/"))) {
        header(q, "Content-Type", STR("text/html; charset=utf-8"));
        add_redirect_page(q, buf_str(&location));
    }
    add_safety(q);
    buf_release(&location);
}

void reply_asset(struct page_request *q, const struct asset *asset)
{
    const char *dir = q->page->options.web_dir;
    struct error err;

    header(q, "Cache-Control",
           asset_is_constant(asset)
               ? STR("private, max-age=31536000, immutable")
               : STR("no-cache"));
    if (!dir && request_takes_gzip(q)) {
        buf_add(&q->x->body, asset->packed);
        reply_packed(q, asset->type);
    } else if (asset_read(asset, dir, &q->x->body, &err)) {
        reply_body(q, asset->type);
    } else {
        reply_text(q, 500, str_from(err.text));
    }
}

void reply_shell(struct page_request *q, int status)
{
    const struct asset_set *set = request_assets(q);
    const struct asset *shell = asset_find(set, set->shell);

    q->x->status = status;
    buf_clear(&q->x->body);
    if (shell)
        reply_asset(q, shell);
    else
        reply_text(q, 500, STR("the page has no HTML file"));
}
