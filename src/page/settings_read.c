/*
 * Reads the file of saved configurations.  Members that no option has are
 * skipped: a newer pprof may have written them.
 */
#include "page/settings_file.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "base/goparse.h"
#include "base/json_view.h"

static bool read_text(struct str *to, struct arena *a, struct json_view value)
{
    struct buf text = arena_buf(a);
    bool ok = json_view_string(value, &text);

    if (ok)
        *to = buf_str(&text);
    return ok;
}

static bool read_int(int *to, struct json_view value)
{
    int64_t number = 0;

    if (goparse_int(value.text, 10, 32, &number) != GOPARSE_OK)
        return false;
    *to = (int)number;
    return true;
}

static bool read_field(struct report_config *c, struct arena *a,
                       const struct config_field *f, struct json_view value)
{
    void *to = config_at(c, f);

    switch (f->kind) {
    case CONFIG_BOOL:
        return json_view_bool(value, to);
    case CONFIG_INT:
        return read_int(to, value);
    case CONFIG_FLOAT:
        return goparse_float(value.text, to) == GOPARSE_OK;
    case CONFIG_TEXT:
        return read_text(to, a, value);
    }
    return false;
}

/* What is not there is zero. */
static bool read_config(struct named_config *out, struct arena *a,
                        struct json_view object, struct error *err)
{
    struct json_view value;

    *out = (struct named_config){.config = {.divide_by = 1}};
    if (json_view_member(object, STR("name"), &value) &&
        !read_text(&out->name, a, value))
        return error_set(err, "could not parse settings: a name is not a text");
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];

        if (f->saved && json_view_member(object, str_from(f->name), &value) &&
            !read_field(&out->config, a, f, value))
            return error_set(err, "could not parse settings: bad value of %s",
                             f->name);
    }
    return true;
}

static bool read_configs(struct settings *s, struct arena *a, struct str text,
                         struct error *err)
{
    struct json_view root, list, one;
    struct str rest = {0};

    if (!json_view(text, &root) || !json_view_is(root, '{'))
        return error_set(err, "could not parse settings: that is not JSON");
    if (!json_view_member(root, STR("configs"), &list))
        return true;
    while (json_view_next(list, &rest, &one))
        if (!read_config(vec_push(a, &s->configs), a, one, err))
            return false;
    return true;
}

bool settings_read(struct settings *s, struct arena *a, const char *path,
                   struct error *err)
{
    struct buf text = arena_buf(a);

    text.max = SETTINGS_MAX_BYTES;
    *s = (struct settings){0};
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    return (file_read(path, &text, err) ||
            error_wrap(err, "could not read settings")) &&
           read_configs(s, a, buf_str(&text), err);
}
