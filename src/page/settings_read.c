/* Apart from settings.c, because Jansson's names are those of base/json.h. */
#include "page/settings_file.h"

#include <errno.h>
#include <jansson.h>
#include <unistd.h>

#include "base/file.h"

static bool read_field(struct report_config *c, struct arena *a,
                       const struct config_field *f, const json_t *value)
{
    void *to = config_at(c, f);

    switch (f->kind) {
    case CONFIG_BOOL:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value);
    case CONFIG_INT:
        *(int *)to = (int)json_integer_value(value);
        return json_is_integer(value);
    case CONFIG_FLOAT:
        *(double *)to = json_number_value(value);
        return json_is_number(value);
    case CONFIG_TEXT:
        if (!json_is_string(value))
            return false;
        *(struct str *)to = arena_str(
            a, str_of(json_string_value(value), json_string_length(value)));
        return true;
    }
    return false;
}

static bool read_config(struct named_config *out, struct arena *a,
                        const json_t *object, struct error *err)
{
    const json_t *name = json_object_get(object, "name");

    out->config = (struct report_config){.divide_by = 1};
    if (json_is_string(name))
        out->name = arena_str(
            a, str_of(json_string_value(name), json_string_length(name)));
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        const json_t *value = json_object_get(object, f->name);

        if (f->saved && value && !read_field(&out->config, a, f, value))
            return error_set(err, "could not parse settings: bad value of %s",
                             f->name);
    }
    return true;
}

static bool read_configs(struct settings *s, struct arena *a,
                         const json_t *root, struct error *err)
{
    const json_t *list = json_object_get(root, "configs");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_config(vec_push(a, &s->configs), a, json_array_get(list, i),
                         err))
            return false;
    return true;
}

/* A file that does not exist is one without configurations. */
bool settings_read(struct settings *s, struct arena *a, const char *path,
                   struct error *err)
{
    struct buf text = BUF_INIT(SETTINGS_MAX_BYTES);
    json_error_t where;
    json_t *root;
    bool ok;

    *s = (struct settings){0};
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!file_read(path, &text, err)) {
        buf_release(&text);
        return error_wrap(err, "could not read settings");
    }
    root = json_loadb(text.data ? text.data : "", text.len, 0, &where);
    buf_release(&text);
    if (!root)
        return error_set(err, "could not parse settings: %s", where.text);
    ok = read_configs(s, a, root, err);
    json_decref(root);
    return ok;
}
