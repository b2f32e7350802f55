#include "kube/preset.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/document.h"

#define PRESET_MAX ((size_t)64 << 10)

bool preset_parse(struct arena *a, const char *source, struct str text,
                  struct preset *out, struct error *err)
{
    const struct node *root =
        document_read_yaml(a, (struct document_source){source, text},
                           &document_default_limits, err);
    int64_t port = 0;

    memset(out, 0, sizeof(*out));
    if (!root || !node_is_map(root, err) ||
        !node_text(root, "about", &out->about, err) ||
        !node_text(root, "namespace", &out->namespace_name, err) ||
        !node_text(root, "selector", &out->selector, err) ||
        !node_int(root, "port", 1, 65535, &port, err) ||
        !node_text(root, "scheme", &out->scheme, err) ||
        !node_text(root, "path", &out->path, err) ||
        !node_text(root, "secret", &out->secret, err) ||
        !node_text(root, "raw", &out->raw, err) ||
        !node_text(root, "note", &out->note, err) ||
        !node_check_keys(root, err))
        return false;
    out->port = (unsigned)port;
    if (out->about.n == 0)
        return error_set(err, "%s: a preset needs `about`", source);
    if (out->scheme.n && !str_eq(out->scheme, STR("http")) &&
        !str_eq(out->scheme, STR("https")))
        return error_set(err, "%s: scheme must be http or https", source);
    if (out->raw.n && out->raw.s[0] != '/')
        return error_set(err, "%s: raw must begin with a slash", source);
    return true;
}

/* The user's directory; NULL if there is no home. */
static const char *own_directory(struct arena *a)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (config && config[0] == '/')
        return arena_printf(a, "%s/pprof/presets", config);
    return home && home[0] ? arena_printf(a, "%s/.config/pprof/presets", home)
                           : NULL;
}

/* A name that is no path: what `preset list` shows. */
static bool is_name(const char *name)
{
    return name[0] && !strchr(name, '/') && name[0] != '.';
}

bool preset_load(struct arena *a, const char *name, struct preset *out,
                 struct error *err)
{
    const char *dir = own_directory(a);
    struct buf text = BUF_INIT(PRESET_MAX);
    struct error ignored;

    if (dir && is_name(name)) {
        const char *path = arena_printf(a, "%s/%s.yaml", dir, name);

        if (file_read(path, &text, &ignored)) {
            struct str copy = arena_str(a, buf_str(&text));

            buf_release(&text);
            return preset_parse(a, path, copy, out, err);
        }
        buf_release(&text);
    }
    for (size_t i = 0; i < n_preset_texts; i++)
        if (strcmp(name, preset_texts[i].name) == 0)
            return preset_parse(a, name, str_from(preset_texts[i].text), out,
                                err);
    return error_set(
        err, "no preset %s; `kubectl pprof preset list` lists them", name);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void add_own(struct arena *a, struct preset_names *out)
{
    const char *path = own_directory(a);
    DIR *dir = path ? opendir(path) : NULL;
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        struct str name = str_from(entry->d_name);

        if (is_name(entry->d_name) && str_has_suffix(name, STR(".yaml")))
            *vec_push(a, &out->list) =
                arena_cstr(a, str_first(name, name.n - 5));
    }
    if (dir)
        closedir(dir);
}

void preset_list(struct arena *a, struct preset_names *out)
{
    size_t kept = 0;

    add_own(a, out);
    for (size_t i = 0; i < n_preset_texts; i++)
        *vec_push(a, &out->list) = preset_texts[i].name;
    qsort(out->list.v, out->list.n, sizeof(*out->list.v), by_name);
    for (size_t i = 0; i < out->list.n; i++)
        if (i == 0 || strcmp(out->list.v[i], out->list.v[i - 1]) != 0)
            out->list.v[kept++] = out->list.v[i];
    out->list.n = kept;
}
