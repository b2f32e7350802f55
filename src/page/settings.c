/*
 * Saved configurations are kept in google/pprof's file, so that both tools see
 * the same ones.  A change reads the file, edits the list and writes the file
 * whole, under a lock: two browser tabs cannot lose each other's change.
 */
#include "page/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory_scope.h"
#include "page/json_fields.h"
#include "page/settings_file.h"

/* ---- writing ---- */

static void write_field(struct json *j, const struct report_config *c,
                        const struct config_field *f)
{
    const void *at = (const char *)c + f->offset;

    switch (f->kind) {
    case CONFIG_BOOL:
        if (*(const bool *)at)
            json_add_bool(j, f->name, true);
        break;
    case CONFIG_INT:
        if (*(const int *)at != 0)
            json_add_i64(j, f->name, *(const int *)at);
        break;
    case CONFIG_FLOAT:
        if (*(const double *)at == 0)
            break;
        json_key(j, str_from(f->name));
        json_double(j, *(const double *)at);
        break;
    case CONFIG_TEXT:
        if (((const struct str *)at)->n > 0)
            json_add_text(j, f->name, *(const struct str *)at);
        break;
    }
}

static void write_configs(struct buf *out, const struct settings *s)
{
    struct json j = json_start(out, 2);

    json_open(&j, '{');
    json_key(&j, STR("configs"));
    json_open(&j, '[');
    for (size_t i = 0; i < s->configs.n; i++) {
        json_open(&j, '{');
        json_add_text(&j, "name", s->configs.v[i].name);
        for (size_t k = 0; k < config_n_fields; k++)
            if (config_fields[k].saved)
                write_field(&j, &s->configs.v[i].config, &config_fields[k]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

/* Makes a directory and those above it. */
static bool make_directories(struct arena *a, const char *path,
                             struct error *err)
{
    char *name = arena_cstr(a, str_from(path));

    for (char *p = name + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(name, 0700) != 0 && errno != EEXIST)
            return error_set_os(err, "mkdir", name, errno);
        *p = '/';
    }
    return true;
}

static bool write_settings(const struct settings *s, struct arena *a,
                           const char *path, struct error *err)
{
    struct buf text = arena_buf(a);
    bool ok;

    text.max = SETTINGS_MAX_BYTES;
    write_configs(&text, s);
    if (!buf_ok(&text))
        ok = error_set(err, "there are too many saved configurations");
    else
        ok = make_directories(a, path, err) &&
             file_write(path, buf_str(&text), err);
    buf_release(&text);
    return ok || error_wrap(err, "failed to write settings");
}

/* ---- changes ---- */

static struct named_config *find(struct settings *s, struct str name)
{
    for (size_t i = 0; i < s->configs.n; i++)
        if (str_eq(s->configs.v[i].name, name))
            return &s->configs.v[i];
    return NULL;
}

static bool save(struct settings *s, struct page_request *q, struct error *err)
{
    struct str name = query_get(q, "config");
    struct named_config *c = find(s, name);

    (void)err;
    if (!c)
        c = vec_push(q->arena, &s->configs);
    *c = (struct named_config){name, q->config};
    return true;
}

static bool forget(struct settings *s, struct page_request *q,
                   struct error *err)
{
    struct str name = query_get(q, "config");
    struct named_config *c = find(s, name);

    if (!c)
        return error_set(err, "config %" STR_FMT " not found", STR_ARG(name));
    memmove(c, c + 1,
            (size_t)(s->configs.v + s->configs.n - (c + 1)) * sizeof(*c));
    s->configs.n--;
    return true;
}

typedef bool settings_change(struct settings *s, struct page_request *q,
                             struct error *err);

struct editing {
    struct page_request *q;
    settings_change *change;
    struct error *err;
    bool ok;
};

static void edit_locked(void *arg)
{
    struct editing *e = arg;
    const char *path = e->q->page->options.settings;
    struct settings s;

    e->ok = settings_read(&s, e->q->arena, path, e->err) &&
            e->change(&s, e->q, e->err) &&
            write_settings(&s, e->q->arena, path, e->err);
}

static bool edit(struct page_request *q, settings_change *change,
                 struct error *err)
{
    struct editing e = {.q = q, .change = change, .err = err};
    bool ok;

    if (!q->page->options.settings)
        return error_set(err, "this page has no file to save settings in");
    pthread_mutex_lock(&q->page->settings_lock);
    ok = memory_scope_run(MEMORY_UNLIMITED, edit_locked, &e, err) && e.ok;
    pthread_mutex_unlock(&q->page->settings_lock);
    return ok;
}

bool settings_save(struct page_request *q, struct error *err)
{
    if (query_get(q, "config").n == 0)
        return error_set(err, "invalid config name");
    return query_apply(q, err) && edit(q, save, err);
}

bool settings_delete(struct page_request *q, struct error *err)
{
    return edit(q, forget, err);
}

/* ---- the menu ---- */

/* What a field contributes to a query; "" for the default. */
static struct str field_word(struct arena *a, const struct report_config *c,
                             const struct config_field *f)
{
    struct report_config defaults;
    struct buf value = arena_buf(a), usual = arena_buf(a);
    struct str word;

    config_init(&defaults);
    config_get(c, f, &value);
    config_get(&defaults, f, &usual);
    word = buf_str(&value);
    if (str_eq(word, buf_str(&usual)))
        word = STR("");
    else if (f->kind == CONFIG_BOOL)
        word = str_first(word, 1);
    return word;
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(((const struct query_word *)x)->name,
                   ((const struct query_word *)y)->name);
}

static const struct config_field *saved_field(struct str param)
{
    for (size_t i = 0; i < config_n_fields; i++)
        if (config_fields[i].saved && config_fields[i].param &&
            str_eq(param, str_from(config_fields[i].param)))
            return &config_fields[i];
    return NULL;
}

/* The request's query with the words of a configuration instead of its own;
 * *changed tells whether they differ. */
static struct str make_query(struct page_request *q,
                             const struct report_config *c, bool *changed)
{
    VEC(struct query_word) words = {0};
    struct buf out = arena_buf(q->arena);

    *changed = false;
    for (size_t i = 0; i < q->words.n; i++)
        if (!saved_field(q->words.v[i].name))
            *vec_push(q->arena, &words) = q->words.v[i];
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *f = &config_fields[i];
        struct str word;

        if (!f->saved || !f->param)
            continue;
        word = field_word(q->arena, c, f);
        *changed |= !str_eq(word, query_get(q, f->param));
        if (word.n > 0)
            *vec_push(q->arena, &words) =
                (struct query_word){str_from(f->param), word};
    }
    if (words.n > 0)
        qsort(words.v, words.n, sizeof(*words.v), by_name);
    for (size_t i = 0; i < words.n; i++) {
        buf_add_char(&out, i == 0 ? '?' : '&');
        query_encode(&out, words.v[i].name);
        buf_add_char(&out, '=');
        query_encode(&out, words.v[i].value);
    }
    return out.len > 0 ? buf_str(&out) : STR("?");
}

struct str settings_query(struct arena *a, const struct report_config *c)
{
    struct page_request nothing = {.arena = a};
    bool changed;

    return make_query(&nothing, c, &changed);
}

void settings_add_menu(struct json *j, struct page_request *q)
{
    VEC(struct named_config) all = {0};
    struct settings s = {0};
    struct error ignored;
    struct str *urls;
    size_t current = SIZE_MAX;

    *vec_push(q->arena, &all) = (struct named_config){.name = STR("Default")};
    config_init(&all.v[0].config);
    if (q->page->options.settings &&
        settings_read(&s, q->arena, q->page->options.settings, &ignored))
        for (size_t i = 0; i < s.configs.n; i++)
            *vec_push(q->arena, &all) = s.configs.v[i];
    urls = arena_new_array(q->arena, struct str, all.n);
    for (size_t i = 0; i < all.n; i++) {
        bool changed;

        urls[i] = make_query(q, &all.v[i].config, &changed);
        if (!changed)
            current = i;
    }
    json_key(j, STR("configs"));
    json_open(j, '[');
    for (size_t i = 0; i < all.n; i++) {
        json_open(j, '{');
        json_add_text(j, "name", all.v[i].name);
        json_add_text(j, "url", urls[i]);
        json_add_bool(j, "current", i == current);
        json_add_bool(j, "user", i > 0);
        json_close(j, '}');
    }
    json_close(j, ']');
}
