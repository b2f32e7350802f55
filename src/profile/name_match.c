#include "profile/name_match.h"

enum { NOT_ASKED, NO, YES };

void name_match_init(struct name_match *m, struct arena *a,
                     const struct profile *p, const struct regex *re,
                     struct str (*of)(struct str name))
{
    *m = (struct name_match){.p = p, .re = re, .of = of};
    if (re)
        m->known = arena_new_array(a, unsigned char, p->strings.n);
}

bool name_matches(struct name_match *m, string_id id)
{
    if (m->known[id] == NOT_ASKED) {
        struct str text = profile_str(m->p, id);

        if (m->of)
            text = m->of(text);
        m->known[id] = regex_matches(m->re, text) ? YES : NO;
    }
    return m->known[id] == YES;
}

bool name_matches_line(struct name_match *m, const struct line *line)
{
    const struct function *f;

    if (line->function == NO_INDEX)
        return false;
    f = &m->p->functions.v[line->function];
    return name_matches(m, f->name) || name_matches(m, f->filename);
}

bool name_matches_mapping(struct name_match *m, const struct location *l)
{
    return l->mapping != NO_INDEX &&
           name_matches(m, m->p->mappings.v[l->mapping].file);
}
