/*
 * A scanner that finds one tag after another.  The documents are flat, so
 * nothing has to remember what is open: a listing is a row of <Contents>, and
 * within one <Key> and <Size> are found by name.
 */
#include "store/archive/s3_xml.h"

#include "base/utf8.h"

/* A tag, and the text behind it up to the next one. */
struct tag {
    struct str name; /* without a prefix */
    bool is_end;
    struct str text;
};

/* What "<!--" and the like end with; "" for an ordinary tag. */
static struct str end_of(struct str at)
{
    if (str_has_prefix(at, STR("<!--")))
        return STR("-->");
    if (str_has_prefix(at, STR("<![CDATA[")))
        return STR("]]>");
    if (str_has_prefix(at, STR("<?")))
        return STR("?>");
    return str_has_prefix(at, STR("<!")) ? STR(">") : STR("");
}

static struct str tag_name(struct str inside)
{
    size_t n = 0;
    ptrdiff_t colon;

    while (n < inside.n && !strchr(" \t\r\n/", inside.s[n]))
        n++;
    inside = str_first(inside, n);
    colon = str_find_char(inside, ':');
    return colon < 0 ? inside : str_skip(inside, (size_t)colon + 1);
}

static bool next_tag(struct str *rest, struct tag *out)
{
    for (;;) {
        ptrdiff_t at = str_find_char(*rest, '<'), end;
        struct str closing;

        if (at < 0)
            return false;
        *rest = str_skip(*rest, (size_t)at);
        closing = end_of(*rest);
        end = str_find(*rest, closing.n ? closing : STR(">"));
        if (end < 0)
            return false;
        if (closing.n == 0) {
            struct str inside =
                str_skip(str_first(*rest, (size_t)end), 1); /* without < */

            out->is_end = str_has_prefix(inside, STR("/"));
            out->name = tag_name(str_skip(inside, out->is_end));
            *rest = str_skip(*rest, (size_t)end + 1);
            at = str_find_char(*rest, '<');
            out->text = at < 0 ? STR("") : str_first(*rest, (size_t)at);
            return true;
        }
        *rest = str_skip(*rest, (size_t)end + closing.n);
    }
}

static bool add_number(struct buf *out, struct str digits)
{
    uint64_t code;
    bool hex = str_has_prefix(digits, STR("x"));

    if (!str_to_u64(str_skip(digits, hex), hex ? 16 : 10, &code) || code == 0 ||
        code > 0x10ffff)
        return false;
    utf8_add(out, (uint32_t)code);
    return true;
}

/* One reference without & and ;. */
static bool add_reference(struct buf *out, struct str name)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    if (str_has_prefix(name, STR("#")))
        return add_number(out, str_skip(name, 1));
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (str_eq(name, str_from(known[i].name))) {
            buf_add_char(out, known[i].c);
            return true;
        }
    return false;
}

/* A reference that means nothing stays as it is. */
static void add_text(struct buf *out, struct str text)
{
    while (text.n > 0) {
        ptrdiff_t amp = str_find_char(text, '&'), end;

        if (amp < 0)
            break;
        buf_add(out, str_first(text, (size_t)amp));
        text = str_skip(text, (size_t)amp);
        end = str_find_char(str_first(text, text.n < 12 ? text.n : 12), ';');
        if (end > 0 &&
            add_reference(out, str_skip(str_first(text, (size_t)end), 1))) {
            text = str_skip(text, (size_t)end + 1);
        } else {
            buf_add_char(out, '&');
            text = str_skip(text, 1);
        }
    }
    buf_add(out, text);
}

bool s3_xml_find(struct str xml, struct str name, struct buf *out)
{
    struct tag t;

    while (next_tag(&xml, &t))
        if (!t.is_end && str_eq(t.name, name)) {
            add_text(out, t.text);
            return true;
        }
    return false;
}

struct listing {
    s3_each_object *each;
    void *arg;
    struct buf key;
    uint64_t size;
    bool has_key, is_complete;
};

static bool take(struct listing *l, const struct tag *t, struct buf *next,
                 struct error *err)
{
    if (str_eq(t->name, STR("Contents")) && t->is_end) {
        bool ok = l->has_key && buf_ok(&l->key);

        l->has_key = false;
        return ok ? l->each(l->arg, buf_str(&l->key), l->size, err)
                  : error_set(err, "the listing has an object without a key");
    }
    if (str_eq(t->name, STR("ListBucketResult")) && t->is_end)
        l->is_complete = true;
    if (t->is_end)
        return true;
    if (str_eq(t->name, STR("Contents"))) {
        l->size = 0;
        l->has_key = false;
    } else if (str_eq(t->name, STR("Key"))) {
        buf_clear(&l->key);
        add_text(&l->key, t->text);
        l->has_key = true;
    } else if (str_eq(t->name, STR("Size"))) {
        if (!str_to_u64(str_trim(t->text), 10, &l->size))
            return error_set(err,
                             "the listing has a size that is not a number");
    } else if (str_eq(t->name, STR("NextContinuationToken"))) {
        add_text(next, t->text);
    }
    return true;
}

bool s3_xml_list(struct str xml, s3_each_object *each, void *arg,
                 struct buf *next, struct error *err)
{
    struct listing l = {.each = each, .arg = arg, .key = BUF_INIT(S3_TEXT_MAX)};
    struct tag t;
    bool ok = true;

    while (ok && next_tag(&xml, &t))
        ok = take(&l, &t, next, err);
    if (ok && !l.is_complete)
        ok = error_set(err, "the reply is not a complete listing; is this an "
                            "S3 endpoint?");
    buf_release(&l.key);
    return ok;
}
