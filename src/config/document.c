/*
 * Reading files.  The two formats are in document_yaml.c and
 * document_json.c.
 */
#include "config/document.h"

#include "base/file.h"

const struct node *document_read_file(struct arena *a, const char *path,
                                      const struct document_limits *limits,
                                      struct error *err)
{
    struct buf text = arena_buf(a);
    struct document_source source = {.name = path};
    bool is_json = str_has_suffix(str_from(path), STR(".json"));

    text.max = limits ? limits->bytes : document_default_limits.bytes;
    if (!file_read(path, &text, err))
        return NULL;
    source.text = buf_str(&text);
    return is_json ? document_read_json(a, source, limits, err)
                   : document_read_yaml(a, source, limits, err);
}
