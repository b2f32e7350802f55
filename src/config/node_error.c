/*
 * Where a value is, in words: its file, line and column, and its path.
 */
#include "config/node_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"

static bool fail_at(const struct document *d, uint32_t line, uint32_t column,
                    struct error *err, const char *fmt, va_list ap)
{
    char words[sizeof(err->text)];

    vsnprintf(words, sizeof(words), fmt, ap);
    if (line)
        error_set(err, "%s:%u:%u: %s", d->name, line, column, words);
    else
        error_set(err, "%s: %s", d->name, words);
    return false;
}

bool document_fail(const struct document *d, uint32_t line, uint32_t column,
                   struct error *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_at(d, line, column, err, fmt, ap);
    va_end(ap);
    return false;
}

/* items[3].metadata.name */
static void add_path(struct buf *out, const struct node *n)
{
    if (!n->parent)
        return;
    add_path(out, n->parent);
    if (n->parent->kind == NODE_LIST) {
        buf_addf(out, "[%zu]", n->index);
        return;
    }
    if (out->len)
        buf_add_char(out, '.');
    buf_add(out, n->name);
}

static bool fail_node(const struct node *n, uint32_t line, uint32_t column,
                      struct error *err, const char *fmt, va_list ap)
{
    struct buf words = BUF_INIT(sizeof(err->text));

    add_path(&words, n);
    buf_add(&words, words.len ? STR(" ") : STR("the document "));
    buf_vaddf(&words, fmt, ap);
    document_fail(n->document, line, column, err, "%s", buf_cstr(&words));
    buf_release(&words);
    return false;
}

bool node_fail(const struct node *n, struct error *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_node(n, n->line, n->column, err, fmt, ap);
    va_end(ap);
    return false;
}

bool node_fail_key(const struct node *n, struct error *err, const char *fmt,
                   ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_node(n, n->key_line, n->key_column, err, fmt, ap);
    va_end(ap);
    return false;
}
