/*
 * Merging is what src/profile does; here the profiles get their labels, and the
 * sum its duration and comments.
 */
#include "cmd/pprof-run/tree_merge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/path.h"
#include "base/vec.h"
#include "profile/compatible.h"
#include "profile/set_label.h"
#include "profile/encode.h"
#include "profile/merge.h"
#include "profile/read.h"

#define MAX_NAME 64

static bool grow(struct process_profiles *all)
{
    size_t cap = all->cap ? 2 * all->cap : 16;
    struct profile **v = realloc(all->v, cap * sizeof(struct profile *));

    if (!v)
        return false;
    all->v = v;
    all->cap = cap;
    return true;
}

/* Servers put what they just do into their title, "postgres: bob shop
 * [local] UPDATE"; what comes before the bracket stays the same. */
static struct str stable_part(struct str title)
{
    for (size_t i = 0; i < title.n; i++)
        if (title.s[i] == '[' || title.s[i] == '(')
            title.n = i;
    return str_trim(str_first(title, title.n < MAX_NAME ? title.n : MAX_NAME));
}

static struct str main_binary(const struct profile *p)
{
    return p->mappings.n ? path_base(profile_str(p, p->mappings.v[0].file))
                         : STR("");
}

/* Its comments (which source, how many lost) are of one process only. */
static void label(struct profile *p, int pid, struct str name)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", pid);
    profile_set_label(p, STR("pid"), str_from(text));
    profile_set_label(p, STR("process"),
                      name.n ? stable_part(name) : main_binary(p));
    p->comments.n = 0;
}

static void add_comment(struct profile *p, const char *text)
{
    *vec_push(p->arena, &p->comments) = profile_intern(p, str_from(text));
}

bool process_profiles_add(struct process_profiles *all, struct str bytes,
                          int pid, struct str name, struct error *err)
{
    struct profile *p = profile_read_memory(bytes, NULL, err);

    if (!p)
        return false;
    assert(all->n <= all->cap);
    if (all->n == all->cap && !grow(all)) {
        profile_free(p);
        return error_set(err, "out of memory");
    }
    label(p, pid, name);
    all->v[all->n++] = p;
    return true;
}

bool process_profiles_write(struct process_profiles *all, size_t missing,
                            struct buf *out, struct error *err)
{
    char said[96];
    struct profile *sum;
    int64_t longest = 0;
    bool ok;

    if (all->n == 0)
        return error_set(err, "no process has a profile");
    if (!profile_make_compatible(all->v, all->n, err))
        return false;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i]->duration_ns > longest)
            longest = all->v[i]->duration_ns;
    sum = profile_merge(all->v, all->n, err);
    if (!sum)
        return false;
    sum->duration_ns = longest;
    snprintf(said, sizeof(said), "merged from %zu processes", all->n);
    add_comment(sum, said);
    if (missing) {
        snprintf(said, sizeof(said), "processes without a profile: %zu",
                 missing);
        add_comment(sum, said);
    }
    ok = profile_encode_gzip(sum, out, err);
    profile_free(sum);
    return ok;
}

void process_profiles_release(struct process_profiles *all)
{
    for (size_t i = 0; i < all->n; i++)
        profile_free(all->v[i]);
    free(all->v);
    *all = (struct process_profiles){0};
}
