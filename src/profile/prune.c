/*
 * Cutting stacks at frames with certain names: drop_frames (from the root)
 * and prune_from (from the leaf).
 */
#include "base/buf.h"
#include "profile/filter.h"
#include "profile/name_match.h"
#include "profile/sweep.h"

/*
 * A function's name without its arguments: up to the first parenthesis that
 * is not part of "(anonymous namespace)" or "operator()".  A dot in front
 * (PowerPC) goes too.
 */
static struct str simple_name(struct str name)
{
    static const struct str anonymous = STR_INIT("(anonymous namespace)");
    static const struct str call = STR_INIT("operator()");
    size_t i = 0;

    if (str_has_prefix(name, STR(".")))
        name = str_skip(name, 1);
    while (i < name.n) {
        struct str rest = str_skip(name, i);

        if (str_has_prefix(rest, anonymous))
            i += anonymous.n;
        else if (str_has_prefix(rest, call))
            i += call.n;
        else if (name.s[i] == '(')
            return str_first(name, i);
        else
            i++;
    }
    return name;
}

static bool has_name(const struct profile *p, const struct line *line)
{
    return line->function != NO_INDEX &&
           p->functions.v[line->function].name != 0;
}

static string_id name_of(const struct profile *p, const struct line *line)
{
    return p->functions.v[line->function].name;
}

/* What pruning means for a sample that comes to a location. */
enum cut {
    CUT_NONE,
    CUT_BELOW, /* the location becomes the leaf */
    CUT_HERE,  /* it goes too */
};

/* Cuts the lines up to the outermost that is dropped and not kept. */
static enum cut cut_location(struct profile *p, struct location *l,
                             struct name_match *drop, struct name_match *keep)
{
    for (uint32_t i = l->n_lines; i-- > 0;) {
        const struct line *line = &p->lines.v[l->line_start + i];

        if (!has_name(p, line) || !name_matches(drop, name_of(p, line)))
            continue;
        if (keep->re && name_matches(keep, name_of(p, line)))
            continue;
        if (i == l->n_lines - 1)
            return CUT_HERE;
        l->line_start += i + 1;
        l->n_lines -= i + 1;
        return CUT_BELOW;
    }
    return CUT_NONE;
}

/*
 * From the root: the first cut below a frame that stays.  Frames above the
 * first such one are never cut, or nothing might be left.
 */
static size_t new_leaf(const struct sweep *s, const unsigned char *cuts)
{
    const uint32_t *stack = s->p->stack;
    size_t i = s->frame_end;

    while (i > s->frame && cuts[stack[i - 1]] != CUT_NONE)
        i--;
    while (i > s->frame && cuts[stack[i - 1]] == CUT_NONE)
        i--;
    if (i == s->frame)
        return s->frame;
    return cuts[stack[i - 1]] == CUT_HERE ? i : i - 1;
}

static void prune(struct profile *p, const struct regex *drop_expression,
                  const struct regex *keep_expression)
{
    struct arena *scratch = arena_new();
    unsigned char *cuts =
        arena_new_array(scratch, unsigned char, p->locations.n);
    struct name_match drop, keep;
    struct sweep s;

    name_match_init(&drop, scratch, p, drop_expression, simple_name);
    name_match_init(&keep, scratch, p, keep_expression, simple_name);
    for (size_t i = 0; i < p->locations.n; i++)
        cuts[i] =
            (unsigned char)cut_location(p, &p->locations.v[i], &drop, &keep);
    sweep_init(&s, p);
    while (sweep_next(&s)) {
        s.frame = new_leaf(&s, cuts);
        sweep_keep(&s);
    }
    arena_free(scratch);
}

/* The expression for whole names: ^(…)$. */
static struct regex *whole_name(struct str expression, struct error *err)
{
    struct buf text = BUF_INIT(expression.n + 8);
    struct regex *re;

    buf_add(&text, STR("^("));
    buf_add(&text, expression);
    buf_add(&text, STR(")$"));
    re = regex_new(buf_str(&text), err);
    buf_release(&text);
    if (!re)
        error_wrap(err, "failed to compile regexp %" STR_FMT,
                   STR_ARG(expression));
    return re;
}

bool profile_prune(struct profile *p, struct error *err)
{
    struct regex *drop, *keep = NULL;
    bool ok = true;

    if (p->drop_frames == 0)
        return true;
    drop = whole_name(profile_str(p, p->drop_frames), err);
    if (!drop)
        return false;
    if (p->keep_frames) {
        keep = whole_name(profile_str(p, p->keep_frames), err);
        ok = keep != NULL;
    }
    if (ok)
        prune(p, drop, keep);
    regex_free(drop);
    regex_free(keep);
    return ok;
}

/* Cuts the lines inside the innermost match. */
static bool cut_inner(struct profile *p, struct location *l,
                      struct name_match *from)
{
    for (uint32_t i = 0; i < l->n_lines; i++) {
        const struct line *line = &p->lines.v[l->line_start + i];

        if (has_name(p, line) && name_matches(from, name_of(p, line))) {
            l->line_start += i;
            l->n_lines -= i;
            return true;
        }
    }
    return false;
}

void profile_prune_from(struct profile *p, const struct regex *from)
{
    struct arena *scratch = arena_new();
    bool *matches = arena_new_array(scratch, bool, p->locations.n);
    struct name_match m;
    struct sweep s;

    name_match_init(&m, scratch, p, from, simple_name);
    for (size_t i = 0; i < p->locations.n; i++)
        matches[i] = cut_inner(p, &p->locations.v[i], &m);
    sweep_init(&s, p);
    while (sweep_next(&s)) {
        size_t i = s.frame;

        while (i < s.frame_end && !matches[p->stack[i]])
            i++;
        if (i < s.frame_end)
            s.frame = i;
        sweep_keep(&s);
    }
    arena_free(scratch);
}
