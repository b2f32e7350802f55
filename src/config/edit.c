/*
 * The document is changed step by step, and every step is written down twice:
 * as an operation of JSON Patch, whose list places are right because
 * operations are applied in order, and as an entry of the note,
 *
 *     {"at": PATH}                            it was not there before
 *     {"at": PATH, "is": NEW}                 a text or number, likewise
 *     {"at": PATH, "is": NEW, "was": OLD}
 *     {"at": PATH, "empty": true}             a map or list that was made
 *
 * Taking back goes through the note from its end.
 */
#include "config/edit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES ((size_t)8 << 10)
#define SHOWN_MAX      ((size_t)1 << 20)

struct edit {
    json_t *root, *patch, *note;
    struct buf shown;
    struct error err;
    bool failed;
};

static void fail(struct edit *e, const char *words, struct str path)
{
    if (!e->failed)
        error_set(&e->err, "%" STR_FMT ": %s", STR_ARG(path), words);
    e->failed = true;
}

struct edit *edit_new(struct str json, struct error *err)
{
    struct edit *e = calloc(1, sizeof(*e));
    json_error_t why;

    if (!e) {
        error_set(err, "out of memory");
        return NULL;
    }
    e->shown = BUF_INIT(SHOWN_MAX);
    e->root = json_loadb(json.s, json.n, 0, &why);
    e->patch = json_array();
    e->note = json_array();
    if (!json_is_object(e->root) || !e->patch || !e->note) {
        error_set(err, "not a JSON object");
        edit_free(e);
        return NULL;
    }
    return e;
}

void edit_free(struct edit *e)
{
    if (!e)
        return;
    json_decref(e->root);
    json_decref(e->patch);
    json_decref(e->note);
    buf_release(&e->shown);
    free(e);
}

void edit_escape(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (name.s[i] == '~')
            buf_add(out, STR("~0"));
        else if (name.s[i] == '/')
            buf_add(out, STR("~1"));
        else
            buf_add_char(out, name.s[i]);
    }
}

static void unescape(struct buf *out, struct str step)
{
    for (size_t i = 0; i < step.n; i++) {
        bool slash = step.s[i] == '~' && i + 1 < step.n && step.s[i + 1] == '1';
        bool tilde = step.s[i] == '~' && i + 1 < step.n && step.s[i + 1] == '0';

        buf_add_char(out, slash ? '/' : step.s[i]);
        i += slash || tilde;
    }
}

/* Returns true if {key=value} names the item. */
static bool is_item(json_t *item, struct str key, struct str value)
{
    json_t *text = key.n ? json_object_getn(item, key.s, key.n) : item;

    return json_is_string(text) &&
           str_eq(str_of(json_string_value(text), json_string_length(text)),
                  value);
}

/* The last one counts: what was appended is taken back first. */
static size_t find_item(json_t *list, struct str step)
{
    struct str key = str_of(step.s + 1, step.n - 2), value = key;
    ptrdiff_t equals = str_find_char(key, '=');

    if (equals < 0)
        return SIZE_MAX;
    key = str_first(key, (size_t)equals);
    value = str_skip(value, (size_t)equals + 1);
    for (size_t i = json_array_size(list); i-- > 0;)
        if (is_item(json_array_get(list, i), key, value))
            return i;
    return SIZE_MAX;
}

/* One step down; adds to the JSON pointer.  NULL: there is nothing. */
static json_t *step_into(json_t *at, struct str raw, struct buf *pointer)
{
    struct buf name = BUF_INIT(PATH_MAX_BYTES);
    json_t *found = NULL;

    unescape(&name, raw);
    struct str step = buf_str(&name);
    if (json_is_object(at)) {
        found = json_object_getn(at, step.s ? step.s : "", step.n);
        buf_add_char(pointer, '/');
        edit_escape(pointer, step);
    } else if (json_is_array(at) && step.n > 2 && step.s[0] == '{' &&
               step.s[step.n - 1] == '}') {
        size_t i = find_item(at, step);

        found = i == SIZE_MAX ? NULL : json_array_get(at, i);
        buf_addf(pointer, "/%zu", i);
    }
    buf_release(&name);
    return found;
}

/*
 * Paths come from notes in annotations, which anybody may have written.  An
 * empty step would mean one place to find() and another to parent_of().
 */
static bool has_empty_step(struct str path)
{
    for (size_t i = 0; i < path.n; i++)
        if (path.s[i] == '/' &&
            (i == 0 || i + 1 == path.n || path.s[i + 1] == '/'))
            return true;
    return false;
}

static json_t *find(struct edit *e, struct str path, struct buf *pointer)
{
    json_t *at = has_empty_step(path) ? NULL : e->root;
    struct str step;

    while (at && path.n && str_split(&path, '/', &step))
        at = step_into(at, step, pointer);
    return at;
}

static json_t *look(struct edit *e, struct str path)
{
    struct buf pointer = BUF_INIT(PATH_MAX_BYTES);
    json_t *found = find(e, path, &pointer);

    buf_release(&pointer);
    return found;
}

bool edit_has(struct edit *e, const char *path)
{
    return look(e, str_from(path)) != NULL;
}

static bool add_string(const json_t *text, struct buf *out)
{
    if (!json_is_string(text))
        return false;
    buf_add_bytes(out, json_string_value(text), json_string_length(text));
    return true;
}

bool edit_text(struct edit *e, const char *path, struct buf *out)
{
    return add_string(look(e, str_from(path)), out);
}

size_t edit_count(struct edit *e, const char *path)
{
    return json_array_size(look(e, str_from(path)));
}

bool edit_nth_text(struct edit *e, const char *path, size_t n, const char *key,
                   struct buf *out)
{
    json_t *item = json_array_get(look(e, str_from(path)), n);

    return add_string(*key ? json_object_get(item, key) : item, out);
}

bool edit_nth_number(struct edit *e, const char *path, size_t n,
                     const char *key, int64_t *out)
{
    json_t *item = json_array_get(look(e, str_from(path)), n);
    json_t *found = json_object_get(item, key);

    if (!json_is_integer(found))
        return false;
    *out = json_integer_value(found);
    return true;
}

/* The path without its last step, which becomes `last`. */
static struct str parent_of(struct str path, struct str *last)
{
    size_t i = path.n;

    while (i > 0 && path.s[i - 1] != '/')
        i--;
    *last = str_skip(path, i);
    return str_first(path, i ? i - 1 : 0);
}

/* A value as people read it, each line with a sign. */
static void show_lines(struct edit *e, char sign, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_INDENT(2));
    struct str rest = str_from(text ? text : ""), line;

    while (str_next_line(&rest, &line))
        buf_addf(&e->shown, "%c     %" STR_FMT "\n", sign, STR_ARG(line));
    free(text);
}

static void show_step(struct edit *e, struct str path, const json_t *old,
                      const json_t *new)
{
    buf_addf(&e->shown, "  %" STR_FMT ":\n", STR_ARG(path));
    if (old)
        show_lines(e, '-', old);
    if (new)
        show_lines(e, '+', new);
}

static void emit(struct edit *e, const char *op, struct str pointer,
                 json_t *value)
{
    json_t *step =
        json_pack("{ss ss%}", "op", op, "path", pointer.s, pointer.n);

    /* A copy, because later steps may change what this one has added. */
    if (value)
        json_object_set_new(step, "value", json_deep_copy(value));
    json_array_append_new(e->patch, step);
}

static void log_step(struct edit *e, struct str path, json_t *is, json_t *was,
                     bool made)
{
    json_t *entry = json_pack("{ss%}", "at", path.s, path.n);

    if (made)
        json_object_set_new(entry, "empty", json_true());
    else if (!json_is_object(is) && !json_is_array(is))
        json_object_set(entry, "is", is);
    if (was)
        json_object_set(entry, "was", was);
    json_array_append_new(e->note, entry);
}

/* The map or list, made where it is missing. */
static json_t *need(struct edit *e, struct str path, bool list)
{
    struct buf pointer = BUF_INIT(PATH_MAX_BYTES);
    json_t *found = find(e, path, &pointer), *parent, *made = NULL;
    struct str last;

    if (!found && path.n && !has_empty_step(path)) {
        parent = need(e, parent_of(path, &last), false);
        buf_clear(&pointer);
        find(e, path, &pointer);
        if (json_is_object(parent)) {
            struct buf name = BUF_INIT(PATH_MAX_BYTES);

            unescape(&name, last);
            made = list ? json_array() : json_object();
            json_object_setn_new(parent, name.data, name.len, made);
            emit(e, "add", buf_str(&pointer), made);
            log_step(e, path, NULL, NULL, true);
            buf_release(&name);
        }
        found = made;
    }
    if (list ? !json_is_array(found) : !json_is_object(found)) {
        fail(e, list ? "is no list" : "is no map", path);
        found = NULL;
    }
    buf_release(&pointer);
    return found;
}

void edit_make(struct edit *e, const char *path)
{
    need(e, str_from(path), false);
}

static json_t *parse(struct edit *e, struct str path, const char *json)
{
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);

    if (!value)
        fail(e, "the new value is not valid JSON", path);
    return value;
}

/* Sets or removes (value NULL) a member; false: there is no such map. */
static bool put(struct edit *e, struct str path, json_t *value, json_t **was)
{
    struct buf pointer = BUF_INIT(PATH_MAX_BYTES), name = pointer;
    struct str last;
    json_t *parent = need(e, parent_of(path, &last), false);

    if (has_empty_step(path))
        fail(e, "has an empty step", path);
    if (!parent || has_empty_step(path))
        return false;
    *was = json_incref(find(e, path, &pointer));
    unescape(&name, last);
    if (value)
        json_object_setn(parent, name.data, name.len, value);
    else
        json_object_deln(parent, name.data, name.len);
    if (value || *was)
        emit(e,
             !value ? "remove"
             : *was ? "replace"
                    : "add",
             buf_str(&pointer), value);
    buf_release(&name);
    buf_release(&pointer);
    return true;
}

void edit_put(struct edit *e, const char *path, const char *json)
{
    struct str p = str_from(path);
    json_t *value = parse(e, p, json), *was = NULL;

    if (value && !json_equal(look(e, p), value) && put(e, p, value, &was)) {
        log_step(e, p, value, was, false);
        show_step(e, p, was, value);
    }
    json_decref(was);
    json_decref(value);
}

void edit_put_plain(struct edit *e, const char *path, const char *json)
{
    struct str p = str_from(path);
    json_t *value = json ? parse(e, p, json) : NULL, *was = NULL;

    if (value || !json)
        put(e, p, value, &was);
    json_decref(was);
    json_decref(value);
}

void edit_add(struct edit *e, const char *path, const char *key,
              const char *json)
{
    struct str p = str_from(path);
    json_t *item = parse(e, p, json), *list = item ? need(e, p, true) : NULL;
    json_t *text = *key ? json_object_get(item, key) : item;
    struct buf pointer = BUF_INIT(PATH_MAX_BYTES), at = pointer;

    if (list && json_is_string(text)) {
        find(e, p, &pointer);
        buf_add(&pointer, STR("/-"));
        buf_addf(&at, "%s/{%s=", path, key);
        edit_escape(&at,
                    str_of(json_string_value(text), json_string_length(text)));
        buf_add_char(&at, '}');
        json_array_append(list, item);
        emit(e, "add", buf_str(&pointer), item);
        log_step(e, buf_str(&at), NULL, NULL, false);
        show_step(e, p, NULL, item);
    } else if (list) {
        fail(e, "an item needs a text that tells it apart", p);
    }
    json_decref(item);
    buf_release(&pointer);
    buf_release(&at);
}

static void remove_at(struct edit *e, struct str path, struct str pointer,
                      json_t *found, bool quiet)
{
    struct str last;
    json_t *parent = look(e, parent_of(path, &last));
    struct buf name = BUF_INIT(PATH_MAX_BYTES);

    if (!quiet)
        show_step(e, path, found, NULL);
    emit(e, "remove", pointer, NULL);
    unescape(&name, last);
    if (json_is_array(parent))
        json_array_remove(parent, find_item(parent, buf_str(&name)));
    else
        json_object_deln(parent, name.data ? name.data : "", name.len);
    buf_release(&name);
}

/* Undoes one entry of a note; false: it has been changed since. */
static bool undo_entry(struct edit *e, json_t *entry)
{
    struct str path = str_from(json_string_value(json_object_get(entry, "at")));
    json_t *is = json_object_get(entry, "is");
    json_t *was = json_object_get(entry, "was");
    bool made = json_is_true(json_object_get(entry, "empty"));
    struct buf pointer = BUF_INIT(PATH_MAX_BYTES);
    json_t *found = path.n ? json_incref(find(e, path, &pointer)) : NULL,
           *ignored = NULL;
    bool ok = true;

    if (!found) {
        /* It has already been removed. */
    } else if (made) {
        if (json_object_size(found) == 0 && json_array_size(found) == 0)
            remove_at(e, path, buf_str(&pointer), found, true);
    } else if (is && !json_equal(found, is)) {
        ok = false;
    } else if (was) {
        show_step(e, path, found, was);
        put(e, path, was, &ignored);
    } else {
        remove_at(e, path, buf_str(&pointer), found, false);
    }
    json_decref(ignored);
    json_decref(found);
    buf_release(&pointer);
    return ok;
}

static json_t *read_note(struct edit *e, struct str note)
{
    json_t *list = json_loadb(note.s, note.n, 0, NULL);

    if (!json_is_array(list)) {
        json_decref(list);
        fail(e, "is not readable", STR("the note of the change"));
        return NULL;
    }
    return list;
}

void edit_undo(struct edit *e, struct str note, struct buf *kept)
{
    json_t *list = read_note(e, note);

    for (size_t i = json_array_size(list); i-- > 0;) {
        json_t *entry = json_array_get(list, i);

        if (!undo_entry(e, entry))
            buf_addf(kept, "%s\n",
                     json_string_value(json_object_get(entry, "at")));
    }
    json_decref(list);
}

void edit_note_before(struct edit *e, struct str note)
{
    json_t *list = read_note(e, note);

    if (list) {
        json_array_extend(list, e->note);
        json_decref(e->note);
        e->note = list;
    }
}

size_t edit_steps(const struct edit *e)
{
    return json_array_size(e->patch);
}

static void dump(const json_t *value, struct buf *out)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    buf_add(out, str_from(text ? text : ""));
    free(text);
}

bool edit_patch(struct edit *e, struct buf *out, struct error *err)
{
    if (e->failed) {
        *err = e->err;
        return false;
    }
    dump(e->patch, out);
    return true;
}

void edit_note(struct edit *e, struct buf *out)
{
    dump(e->note, out);
}

void edit_show(const struct edit *e, struct buf *out)
{
    buf_add(out, buf_str(&e->shown));
}
