/*
 * The symbolz protocol: POST "0x1+0x2+…" to the server that the profile came
 * from, and read back lines of "address name".  Addresses are moved to where
 * the server has the mapping.  What it answers is from outside: unknown
 * addresses and odd lines are ignored.
 */
#include "symbol/remote.h"

#include <errno.h>

#include "base/map.h"
#include "symbol/unsymbolizable.h"

/* Of a question, and of its answer: a line for each address. */
#define MAX_BYTES ((size_t)256 << 20)

#define MAX_URL_TAIL 16 /* "/symbolz" */

struct answer {
    uint64_t address;
    string_id name;
};

/* The locations of one mapping that wait for a name, by their address over
 * there. */
struct question {
    struct profile *profile;
    uint32_t mapping;
    int64_t offset; /* what to add to an address for the server */
    struct map functions;
    VEC(struct answer) answers;
};

static bool ends_like_a_pprof_path(struct str path)
{
    static const struct str ends[] = {
        STR_INIT("/pprof/heap"),       STR_INIT("/pprof/growth"),
        STR_INIT("/pprof/profile"),    STR_INIT("/pprof/pmuprofile"),
        STR_INIT("/pprof/contention"),
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (str_has_suffix(path, ends[i]))
            return true;
    return false;
}

/*
 * Where to ask for the symbols of a profile that came from `url`: the last
 * element of the path becomes "symbol" on a Go-like server, "symbolz" on
 * others; the query goes.
 */
static void symbol_url(struct buf *out, struct str url)
{
    ptrdiff_t query = str_find_char(url, '?');
    ptrdiff_t scheme = str_find(url, STR("://"));
    struct str path;
    ptrdiff_t slash;
    bool go_like;

    if (query >= 0)
        url = str_first(url, (size_t)query);
    path = str_skip(url, scheme < 0 ? 0 : (size_t)scheme + 3);
    go_like = str_contains(path, STR("/debug/pprof/")) ||
              ends_like_a_pprof_path(path);
    slash = str_rfind_char(path, '/');
    if (slash >= 0)
        url.n = (size_t)(path.s - url.s) + (size_t)slash;
    buf_add(out, url);
    buf_add(out, go_like ? STR("/symbol") : STR("/symbolz"));
}

static bool add_offset(uint64_t address, int64_t offset, uint64_t *out)
{
    *out = address + (uint64_t)offset;
    return offset >= 0 ? *out >= address : *out < address;
}

static bool build_body(const struct question *q, struct buf *body,
                       struct error *err)
{
    const struct profile *p = q->profile;

    for (size_t i = 0; i < p->locations.n; i++) {
        const struct location *l = &p->locations.v[i];
        uint64_t there;

        if (l->mapping != q->mapping || l->address == 0 || l->n_lines > 0)
            continue;
        if (!add_offset(l->address, q->offset, &there))
            return error_set(err,
                             "cannot adjust address %#lx by %ld, it would "
                             "overflow",
                             l->address, (long)q->offset);
        buf_addf(body, "%s%#lx", body->len ? "+" : "", there);
    }
    return true;
}

/* "0x4005d0 main" (blanks between); false for any other line. */
static bool parse_line(struct str line, uint64_t *address, struct str *name)
{
    ptrdiff_t at = str_find(line, STR("0x"));
    size_t digits = 0;

    if (at < 0)
        return false;
    line = str_skip(line, (size_t)at + 2);
    while (digits < line.n && strchr("0123456789abcdefABCDEF", line.s[digits]))
        digits++;
    if (digits == line.n || !str_to_u64(str_first(line, digits), 16, address))
        return false;
    *name = str_skip(line, digits);
    if (name->s[0] != ' ' && name->s[0] != '\t')
        return false;
    while (name->n && (name->s[0] == ' ' || name->s[0] == '\t'))
        *name = str_skip(*name, 1);
    return true;
}

static void parse_reply(struct question *q, struct str reply)
{
    struct profile *p = q->profile;
    ptrdiff_t at;

    /* The last line counts only with its newline. */
    while ((at = str_find_char(reply, '\n')) >= 0) {
        struct answer a;
        struct str name;

        if (parse_line(str_first(reply, (size_t)at), &a.address, &name)) {
            a.name = profile_intern(p, name);
            *vec_push(p->arena, &q->answers) = a;
        }
        reply = str_skip(reply, (size_t)at + 1);
    }
}

static uint32_t function_named(struct question *q, string_id name)
{
    struct profile *p = q->profile;
    struct map_cursor c = map_find(&q->functions, map_mix(0, name));
    struct function f = {.name = name, .system_name = name};

    while (map_next(&q->functions, &c))
        if (p->functions.v[c.record].name == name)
            return c.record;
    f.id = p->functions.n + 1;
    map_add(&q->functions, &c, (uint32_t)p->functions.n);
    *vec_push(p->arena, &p->functions) = f;
    return (uint32_t)(p->functions.n - 1);
}

static void apply_answers(struct question *q)
{
    struct profile *p = q->profile;
    struct map by_address;

    map_init(&by_address, p->arena, q->answers.n);
    for (size_t i = q->answers.n; i-- > 0;) { /* the last answer wins */
        struct map_cursor c =
            map_find(&by_address, map_mix(0, q->answers.v[i].address));

        while (map_next(&by_address, &c))
            ;
        map_add(&by_address, &c, (uint32_t)i);
    }
    for (size_t i = 0; i < p->locations.n; i++) {
        struct location *l = &p->locations.v[i];
        uint64_t there = l->address + (uint64_t)q->offset;
        struct map_cursor c = map_find(&by_address, map_mix(0, there));

        if (l->mapping != q->mapping || l->address == 0 || l->n_lines > 0)
            continue;
        while (map_next(&by_address, &c)) {
            if (q->answers.v[c.record].address != there)
                continue;
            l->line_start = (uint32_t)p->lines.n;
            l->n_lines = 1;
            *vec_push(p->arena, &p->lines) = (struct line){
                .function = function_named(q, q->answers.v[c.record].name)};
            break;
        }
    }
}

static bool ask(struct profile *p, uint32_t mapping,
                const struct symbolize_source *source,
                const struct symbolize_request *request, struct error *err)
{
    struct question q = {
        .profile = p,
        .mapping = mapping,
        .offset = (int64_t)(source->start - p->mappings.v[mapping].start),
    };
    struct buf url = BUF_INIT(source->url.n + MAX_URL_TAIL);
    struct buf body = BUF_INIT(MAX_BYTES), reply = BUF_INIT(MAX_BYTES);
    bool ok;

    map_init(&q.functions, p->arena, 0);
    symbol_url(&url, source->url);
    ok = build_body(&q, &body, err);
    if (ok && body.len) {
        ok = request->ask(request->arg, source, buf_str(&url), buf_str(&body),
                          &reply, err);
        if (ok) {
            parse_reply(&q, buf_str(&reply));
            apply_answers(&q);
        }
    }
    buf_release(&url);
    buf_release(&body);
    buf_release(&reply);
    return ok;
}

static const struct symbolize_source *
source_of(const struct profile *p, const struct mapping *m,
          const struct symbolize_request *request)
{
    struct str keys[2] = {profile_str(p, m->file), profile_str(p, m->build_id)};

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < request->n_sources; i++)
            if (keys[k].n && str_eq(request->sources[i].key, keys[k]))
                return &request->sources[i];
    return NULL;
}

void symbolize_remote(struct profile *p,
                      const struct symbolize_request *request, bool force,
                      struct buf *messages)
{
    struct str refused = STR("");
    struct error err;

    for (uint32_t i = 0; i < p->mappings.n; i++) {
        struct mapping *m = &p->mappings.v[i];
        const struct symbolize_source *source;

        if ((m->has_functions && !force) ||
            symbolize_is_unsymbolizable(profile_str(p, m->file)))
            continue;
        source = source_of(p, m, request);
        if (!source || str_eq(source->url, refused))
            continue;
        if (ask(p, i, source, request, &err)) {
            m->has_functions = true;
        } else {
            if (err.code != ENOENT) /* there is no symbol service */
                buf_addf(messages, "No names from the server: %s\n", err.text);
            refused = source->url;
        }
    }
}
