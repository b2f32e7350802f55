#include "profile/diff.h"

#include "profile/merge.h"

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
    return profile_combine((struct profile *[]){p, base}, 2, err);
}
