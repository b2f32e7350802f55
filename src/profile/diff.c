/*
 * A comparison is a sum: the base is scaled by -1 and merged with the profile.
 * Its samples may be marked with a label first, so that reports can tell the
 * two sides apart and show shares of the base.
 */
#include "profile/diff.h"

#include "base/buf.h"
#include "profile/compatible.h"
#include "profile/merge.h"
#include "profile/scale.h"
#include "profile/set_label.h"

struct profile *profile_combine(struct profile **profiles, size_t n,
                                struct error *err)
{
    struct profile *sum = NULL;

    if (profile_make_compatible(profiles, n, err))
        sum = n == 1 ? profiles[0] : profile_merge(profiles, n, err);
    for (size_t i = 0; i < n; i++)
        if (profiles[i] != sum)
            profile_free(profiles[i]);
    return sum;
}

void profile_pair_free(struct profile_pair pair)
{
    profile_free(pair.profile);
    profile_free(pair.base);
}

/* "cpu time" of "cpu time: 5 ns"; "" if the comment is not of that form. */
static struct str comment_key(struct str comment)
{
    ptrdiff_t colon = str_find(comment, STR(": "));

    return colon < 0 ? STR("") : str_first(comment, (size_t)colon);
}

/* Returns true if the profile has a different comment with the same key. */
static bool contradicts(const struct profile *p, struct str comment)
{
    struct str key = comment_key(comment);
    bool other = false;

    for (size_t i = 0; key.n && i < p->comments.n; i++) {
        struct str c = profile_str(p, p->comments.v[i]);

        if (str_eq(c, comment))
            return false;
        other |= str_eq(comment_key(c), key);
    }
    return other;
}

static string_id labelled(struct profile *p, struct str label,
                          struct str comment)
{
    struct buf text = arena_buf(p->arena);
    string_id id;

    buf_add(&text, label);
    buf_add(&text, comment);
    id = profile_intern(p, buf_str(&text));
    buf_release(&text);
    return id;
}

static string_id *label_comments(struct profile *p, struct str label,
                                 const struct profile *other)
{
    string_id *out = arena_new_array(p->arena, string_id, p->comments.n);

    for (size_t i = 0; i < p->comments.n; i++) {
        struct str comment = profile_str(p, p->comments.v[i]);

        out[i] = contradicts(other, comment) ? labelled(p, label, comment)
                                             : p->comments.v[i];
    }
    return out;
}

/*
 * The comments of both profiles become one list.  Where both say "key: …"
 * and not the same, each says whose it is; others are left alone, since
 * google/pprof prints them so.
 */
static void tell_comments_apart(struct profile *p, struct profile *base)
{
    string_id *of_base = label_comments(base, STR("base: "), p);
    string_id *of_p = label_comments(p, STR("profile: "), base);

    base->comments.v = of_base;
    base->comments.cap = base->comments.n;
    p->comments.v = of_p;
    p->comments.cap = p->comments.n;
}

struct profile *profile_diff(struct profile *p, struct profile *base,
                             struct diff_options options, struct error *err)
{
    if (options.mark)
        profile_set_label(base, BASE_LABEL_KEY, BASE_LABEL_VALUE);
    if (options.normalize && !profile_normalize(p, base, err)) {
        profile_free(p);
        profile_free(base);
        return NULL;
    }
    profile_scale(base, -1);
    tell_comments_apart(p, base);
    return profile_combine((struct profile *[]){p, base}, 2, err);
}
