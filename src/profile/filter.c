/*
 * Every filter works in three steps: texts are matched once each
 * (name_match), locations get a mark from that, and samples are swept with a
 * look at the marks of their frames.
 */
#include "profile/filter.h"

#include "profile/name_match.h"
#include "profile/sweep.h"

enum {
    FOCUSED = 1,
    IGNORED = 2,
    HIDDEN = 4,
};

/* The four expressions and what they say of each location. */
struct marker {
    struct profile *p;
    struct name_filter filter;
    struct name_match focus, ignore, hide, show;
    struct name_filter_matched matched;
    unsigned char *marks; /* by location */
};

static bool matches_location(struct name_match *m, const struct location *l)
{
    for (size_t i = 0; i < l->n_lines; i++)
        if (name_matches_line(m, &m->p->lines.v[l->line_start + i]))
            return true;
    return name_matches_mapping(m, l);
}

/* Keeps those lines of the location whose match is as wanted.  A mapping
 * that matches decides for all lines. */
static void select_lines(struct profile *p, struct location *l,
                         struct name_match *m, bool wanted)
{
    struct line *lines = p->lines.v;
    bool all = name_matches_mapping(m, l);
    size_t to = l->line_start, end = to + l->n_lines;

    for (size_t i = to; i < end; i++)
        if ((all || name_matches_line(m, &lines[i])) == wanted)
            lines[to++] = lines[i];
    l->n_lines = (uint32_t)(to - l->line_start);
}

/* What sample selection thinks of it; asked before lines are taken away. */
static unsigned char focus_mark(struct marker *k, const struct location *l)
{
    if (k->filter.ignore && matches_location(&k->ignore, l)) {
        k->matched.ignore = true;
        return IGNORED;
    }
    if (k->filter.focus && !matches_location(&k->focus, l))
        return 0;
    k->matched.focus = true;
    return FOCUSED;
}

static unsigned char hide_mark(struct marker *k, struct location *l)
{
    bool hidden = false;

    if (k->filter.hide && matches_location(&k->hide, l)) {
        k->matched.hide = true;
        select_lines(k->p, l, &k->hide, false);
        hidden = l->n_lines == 0;
    }
    if (k->filter.show) {
        select_lines(k->p, l, &k->show, true);
        hidden = hidden || l->n_lines == 0;
        k->matched.show |= l->n_lines > 0;
    }
    return hidden ? HIDDEN : 0;
}

static void mark_locations(struct marker *k, struct arena *a)
{
    struct profile *p = k->p;

    name_match_init(&k->focus, a, p, k->filter.focus, NULL);
    name_match_init(&k->ignore, a, p, k->filter.ignore, NULL);
    name_match_init(&k->hide, a, p, k->filter.hide, NULL);
    name_match_init(&k->show, a, p, k->filter.show, NULL);
    k->marks = arena_new_array(a, unsigned char, p->locations.n);
    for (size_t i = 0; i < p->locations.n; i++) {
        k->marks[i] = focus_mark(k, &p->locations.v[i]);
        k->marks[i] |= hide_mark(k, &p->locations.v[i]);
    }
}

static unsigned char marks_of(const struct marker *k, const struct sweep *s)
{
    unsigned char marks = 0;

    for (size_t i = s->frame; i < s->frame_end; i++)
        marks |= k->marks[k->p->stack[i]];
    return marks;
}

static void drop_hidden(const struct marker *k, struct sweep *s)
{
    uint32_t *stack = k->p->stack;
    size_t to = s->frame;

    for (size_t i = s->frame; i < s->frame_end; i++)
        if (!(k->marks[stack[i]] & HIDDEN))
            stack[to++] = stack[i];
    s->frame_end = to;
}

struct name_filter_matched profile_filter_names(struct profile *p,
                                                struct name_filter filter)
{
    struct arena *scratch = arena_new();
    struct marker k = {.p = p, .filter = filter};
    struct sweep s;

    mark_locations(&k, scratch);
    sweep_init(&s, p);
    while (sweep_next(&s)) {
        unsigned char marks = marks_of(&k, &s);

        if (!(marks & FOCUSED) || (marks & IGNORED))
            continue;
        if (marks & HIDDEN)
            drop_hidden(&k, &s);
        if (s.frame < s.frame_end)
            sweep_keep(&s);
    }
    arena_free(scratch);
    return k.matched;
}

/* Cuts the lines outside the outermost match. */
static bool cut_to_match(struct profile *p, struct location *l,
                         struct name_match *m)
{
    if (name_matches_mapping(m, l))
        return true;
    for (uint32_t i = l->n_lines; i-- > 0;) {
        if (name_matches_line(m, &p->lines.v[l->line_start + i])) {
            l->n_lines = i + 1;
            return true;
        }
    }
    return false;
}

bool profile_show_from(struct profile *p, const struct regex *show_from)
{
    struct arena *scratch = arena_new();
    bool *matches = arena_new_array(scratch, bool, p->locations.n);
    bool any = false;
    struct name_match m;
    struct sweep s;

    name_match_init(&m, scratch, p, show_from, NULL);
    for (size_t i = 0; i < p->locations.n; i++) {
        matches[i] = cut_to_match(p, &p->locations.v[i], &m);
        any |= matches[i];
    }
    sweep_init(&s, p);
    while (sweep_next(&s)) {
        while (s.frame_end > s.frame && !matches[p->stack[s.frame_end - 1]])
            s.frame_end--;
        if (s.frame_end > s.frame)
            sweep_keep(&s);
    }
    arena_free(scratch);
    return any;
}

struct label_filter_matched profile_filter_labels(struct profile *p,
                                                  const struct regex *show,
                                                  const struct regex *hide)
{
    struct arena *scratch = arena_new();
    struct label_filter_matched matched = {0};
    struct name_match shown, hidden;
    struct sweep s;

    name_match_init(&shown, scratch, p, show, NULL);
    name_match_init(&hidden, scratch, p, hide, NULL);
    sweep_init(&s, p);
    while (sweep_next(&s)) {
        size_t to = s.label;

        for (size_t i = s.label; i < s.label_end; i++) {
            bool is_shown = !show || name_matches(&shown, p->labels[i].key);
            bool is_hidden = hide && name_matches(&hidden, p->labels[i].key);

            matched.show |= is_shown;
            matched.hide |= is_hidden;
            if (is_shown && !is_hidden)
                p->labels[to++] = p->labels[i];
        }
        s.label_end = to;
        sweep_keep(&s);
    }
    arena_free(scratch);
    return matched;
}
