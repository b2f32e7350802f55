/*
 * Filters work on the samples of the profile in place.  The order in which
 * expressions are compiled and applied is visible to the user, in errors and
 * in warnings about expressions that match nothing, and is google/pprof's.
 */
#include "report/filters.h"

#include "profile/filter.h"
#include "profile/tag_match.h"

/* The expressions of one report.  All except those on label keys are compiled
 * before the first is applied: the order decides which error the user sees. */
struct filters {
    struct regex *focus, *ignore, *hide, *show, *show_from, *prune_from;
    struct tag_match *tagfocus, *tagignore;
    struct regex *tagshow, *taghide;
};

static bool compile(struct str pattern, const char *name, struct regex **out,
                    struct error *err)
{
    if (pattern.n == 0)
        return true;
    *out = regex_new(pattern, err);
    return *out || error_wrap(err, "parsing %s regexp", name);
}

static bool compile_tag(struct report *r, struct str expression,
                        const char *name, struct tag_match **out,
                        struct error *err)
{
    if (expression.n == 0)
        return true;
    *out = tag_match_new(name, expression, r->profile, &r->label_units,
                         r->warnings, err);
    return *out != NULL;
}

static void release(struct filters *f)
{
    regex_free(f->focus);
    regex_free(f->ignore);
    regex_free(f->hide);
    regex_free(f->show);
    regex_free(f->show_from);
    regex_free(f->prune_from);
    tag_match_free(f->tagfocus);
    tag_match_free(f->tagignore);
    regex_free(f->tagshow);
    regex_free(f->taghide);
}

static void warn_unless(const struct report *r, bool matched,
                        const void *option, const char *name)
{
    if (option && !matched)
        buf_addf(r->warnings, "%s expression matched no samples\n", name);
}

static bool compile_all(struct filters *f, struct report *r, struct error *err)
{
    const struct report_config *c = &r->config;

    return compile(c->focus, "focus", &f->focus, err) &&
           compile(c->ignore, "ignore", &f->ignore, err) &&
           compile(c->hide, "hide", &f->hide, err) &&
           compile(c->show, "show", &f->show, err) &&
           compile(c->show_from, "show_from", &f->show_from, err) &&
           compile_tag(r, c->tagfocus, "tagfocus", &f->tagfocus, err) &&
           compile_tag(r, c->tagignore, "tagignore", &f->tagignore, err) &&
           compile(c->prune_from, "prune_from", &f->prune_from, err);
}

static void apply_names(const struct filters *f, struct report *r)
{
    struct name_filter_matched m;

    if (f->focus || f->ignore || f->hide || f->show) {
        m = profile_filter_names(r->profile,
                                 (struct name_filter){.focus = f->focus,
                                                      .ignore = f->ignore,
                                                      .hide = f->hide,
                                                      .show = f->show});
        warn_unless(r, m.focus, f->focus, "Focus");
        warn_unless(r, m.ignore, f->ignore, "Ignore");
        warn_unless(r, m.hide, f->hide, "Hide");
        warn_unless(r, m.show, f->show, "Show");
    }
    if (f->show_from)
        warn_unless(r, profile_show_from(r->profile, f->show_from),
                    f->show_from, "ShowFrom");
}

static void apply_labels(const struct filters *f, struct report *r)
{
    struct tag_filter_matched m;

    if (!f->tagfocus && !f->tagignore)
        return;
    m = profile_filter_tags(r->profile, f->tagfocus, f->tagignore);
    warn_unless(r, m.focus, f->tagfocus, "TagFocus");
    warn_unless(r, m.ignore, f->tagignore, "TagIgnore");
}

static bool apply_label_keys(struct filters *f, struct report *r,
                             struct error *err)
{
    struct label_filter_matched m;

    if (!compile(r->config.tagshow, "tagshow", &f->tagshow, err) ||
        !compile(r->config.taghide, "taghide", &f->taghide, err))
        return false;
    if (!f->tagshow && !f->taghide)
        return true;
    m = profile_filter_labels(r->profile, f->tagshow, f->taghide);
    warn_unless(r, m.show, f->tagshow, "TagShow");
    warn_unless(r, m.hide, f->taghide, "TagHide");
    return true;
}

bool report_apply_filters(struct report *r, struct error *err)
{
    struct filters f = {0};
    bool ok = compile_all(&f, r, err);

    if (ok) {
        apply_names(&f, r);
        apply_labels(&f, r);
        ok = apply_label_keys(&f, r, err);
    }
    if (ok && f.prune_from)
        profile_prune_from(r->profile, f.prune_from);
    release(&f);
    return ok;
}
