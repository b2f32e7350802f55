/*
 * The list of services is what people open first, so it must appear at once:
 * its HTML has only the script that shows it, and the rows as a block of JSON.
 * The browser fetches the other scripts after it has painted the list.
 *
 * A page whose files are read from disk is the usual shell, and asks for the
 * rows; so does a page whose rows are not available or too many.
 */
#include "page/list_page.h"

#include "base/query.h"
#include "page/reply.h"

/* Returns true if the range differs from the one that the list starts with. */
static bool has_range(struct str query)
{
    struct arena *a = arena_new();
    struct query_word word;
    bool found = false;

    while (!found && query_next(a, &query, &word))
        found = str_eq(word.name, STR("range")) && word.value.n > 0;
    arena_free(a);
    return found;
}

void list_page_prepare(struct page_request *q)
{
    const struct page_options *o = &q->page->options;
    const struct http_request *r = q->x->request;

    q->overview = BUF_INIT(o->overview_bytes);
    if (!o->overview || o->overview_bytes == 0 || o->web_dir ||
        !str_eq(r->method, STR("GET")) ||
        !str_eq(r->path, STR("/ui/services")) || has_range(r->query))
        return;
    if (!o->overview(o->arg, q->x, &q->overview) || !buf_ok(&q->overview))
        buf_clear(&q->overview);
}

/* In JSON a '<' can only be inside a string, where its escape means the same;
 * HTML then sees no tag in it. */
static void add_json(struct buf *out, struct str json)
{
    struct str part;
    bool is_first = true;

    while (str_split(&json, '<', &part)) {
        if (!is_first)
            buf_add(out, STR("\\u003c"));
        buf_add(out, part);
        is_first = false;
    }
}

/* Sent plain on one machine, where packing takes longer than sending.  Never
 * kept: a page that comes back from a cache must not show old rows, nor rows
 * that another user may see. */
static void reply_with_rows(struct page_request *q, const struct asset *shell)
{
    struct buf *body = &q->x->body;

    buf_add(body, shell->bytes);
    buf_add(body, STR("<script type=\"application/json\" id=\"overview\">"));
    add_json(body, buf_str(&q->overview));
    buf_add(body, STR("</script>\n"));
    http_exchange_header(q->x, "Cache-Control", STR("no-store"));
    if (http_client_is_local(q->x->client))
        reply_bytes(q, shell->type);
    else
        reply_body(q, shell->type);
}

void list_page_answer(struct page_request *q)
{
    const struct asset_set *set = request_assets(q);
    const struct asset *shell = asset_find(set, set->list_shell);

    if (shell && q->overview.len > 0) {
        reply_with_rows(q, shell);
        return;
    }
    /* What the script will ask for, whatever the list is narrowed to. */
    if (query_get(q, "range").n == 0)
        http_exchange_header(q->x, "Link",
                             STR("<../api/1/overview>; rel=preload; as=fetch; "
                                 "crossorigin"));
    if (shell && !q->page->options.web_dir)
        reply_asset(q, shell);
    else
        reply_shell(q, 200);
}
