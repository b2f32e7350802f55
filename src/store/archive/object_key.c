/*
 * Keys are read from the end, since a prefix may have any number of parts.
 */
#include "store/archive/object_key.h"

#include <inttypes.h>

#include "base/percent.h"
#include "base/time_text.h"
#include "base/vec.h"

#define DAY_TEXT 10 /* 2019-05-30 */

/* "." and ".." mean something else in a path. */
static void add_part(struct buf *out, struct str part)
{
    if (str_eq(part, STR(".")) || str_eq(part, STR("..")))
        buf_add(out, part.n == 1 ? STR("%2E") : STR("%2E%2E"));
    else
        percent_encode(out, part, "");
}

void object_key_add(struct buf *out, const struct store_profile *p,
                    bool is_delta)
{
    char id[STORE_ID_TEXT + 1];
    struct buf time = BUF_INIT(64);

    store_id_format(&p->id, id);
    time_add_rfc3339(&time, p->created_at_ns);
    add_part(out, p->service);
    buf_add_char(out, '/');
    add_part(out, p->type);
    buf_addf(out, "/%.*s/%" PRId64 "-%s", DAY_TEXT, buf_cstr(&time),
             p->created_at_ns, id);
    for (size_t i = 0; i < p->n_labels; i++) {
        buf_add_char(out, ',');
        percent_encode(out, p->labels[i].key, "");
        buf_add_char(out, '=');
        percent_encode(out, p->labels[i].value, "");
    }
    buf_add(out, p->is_opaque ? STR(".bin")
                 : is_delta   ? STR(".delta.pb.gz")
                              : STR(".pb.gz"));
    buf_release(&time);
}

static bool decode(struct arena *a, struct str text, struct str *out)
{
    char *to = arena_cstr(a, text);
    ptrdiff_t n = percent_decode(text, false, to);

    *out = str_of(to, n < 0 ? 0 : (size_t)n);
    return n >= 0;
}

/* Takes the last part off the end of *rest. */
static struct str take_last(struct str *rest)
{
    ptrdiff_t slash = str_rfind_char(*rest, '/');
    struct str part = str_skip(*rest, (size_t)(slash + 1));

    *rest = str_first(*rest, slash < 0 ? 0 : (size_t)slash);
    return part;
}

static bool take_suffix(struct str *name, struct str suffix)
{
    if (!str_has_suffix(*name, suffix))
        return false;
    name->n -= suffix.n;
    return true;
}

/* "1559250605250000000-ID" */
static bool parse_head(struct str head, struct store_put *out,
                       struct store_id *id)
{
    size_t n = head.n - STORE_ID_TEXT;

    return head.n > STORE_ID_TEXT + 1 && head.s[n - 1] == '-' &&
           store_id_parse(str_skip(head, n), id) &&
           str_to_i64(str_first(head, n - 1), 10, &out->created_at_ns);
}

static bool parse_labels(struct arena *a, struct str text,
                         struct store_put *out)
{
    VEC(struct store_label) labels = {0};
    struct str one;

    while (str_split(&text, ',', &one)) {
        ptrdiff_t equals = str_find_char(one, '=');
        struct store_label *label = vec_push(a, &labels);

        if (equals <= 0 ||
            !decode(a, str_first(one, (size_t)equals), &label->key) ||
            !decode(a, str_skip(one, (size_t)equals + 1), &label->value))
            return false;
    }
    out->labels = labels.v;
    out->n_labels = labels.n;
    return true;
}

bool object_key_parse(struct arena *a, struct str key, struct store_put *out,
                      struct store_id *id)
{
    struct str name = take_last(&key), day = take_last(&key);
    struct str type = take_last(&key), service = take_last(&key);
    struct str head;

    *out = (struct store_put){
        .id = id, .created_at_wins = true, .allow_empty = true};
    out->is_opaque = take_suffix(&name, STR(".bin"));
    if ((!out->is_opaque && !take_suffix(&name, STR(".pb.gz"))) ||
        day.n != DAY_TEXT)
        return false;
    out->is_delta = !out->is_opaque && take_suffix(&name, STR(".delta"));
    if (!str_split(&name, ',', &head))
        return false;
    return parse_head(head, out, id) && parse_labels(a, name, out) &&
           decode(a, type, &out->type) && decode(a, service, &out->service) &&
           out->type.n > 0 && out->service.n > 0;
}
