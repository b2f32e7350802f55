/*
 * A page without scripts: it must work when nothing else does.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/html.h"
#include "base/size_text.h"
#include "base/time_text.h"
#include "collector/scrape/show_view.h"

#define MAX_ROWS 2000 /* targets on a page; the API has all */

static const char head[] =
    "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
    "<title>Targets - pprofd</title>\n<style>\n"
    "body { font: 14px/1.4 sans-serif; margin: 1.5em; }\n"
    "table { border-collapse: collapse; margin-bottom: 1.5em; }\n"
    "th, td { text-align: left; vertical-align: top; padding: .2em .7em;\n"
    "  border-bottom: 1px solid #ddd; }\n"
    ".up { color: #176b2c; } .down { color: #b3261e; font-weight: bold; }\n"
    ".unknown, small { color: #666; } .number { text-align: right; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  body { background: #1b1b1b; color: #ddd; }\n"
    "  th, td { border-color: #444; } .up { color: #7fd694; }\n"
    "  .down { color: #ff8a80; } .unknown, small { color: #aaa; } }\n"
    "</style>\n</head>\n<body>\n<h1>Targets</h1>\n";

static void add_cell(struct buf *out, struct str text)
{
    buf_add(out, STR("<td>"));
    buf_add_html(out, text);
    buf_add(out, STR("</td>"));
}

static void add_ago(struct buf *out, int64_t at_ns)
{
    if (!at_ns) {
        buf_add(out, STR("<td class=unknown>never</td>"));
        return;
    }
    buf_addf(out, "<td class=number>%lld s ago</td>",
             (long long)((clock_realtime_ns() - at_ns) / SECOND));
}

static void add_task(struct buf *out, const struct task *t)
{
    const struct outcome *o = &t->outcome;
    const char *class = !o->at_ns                ? "unknown"
                        : o->reason == SCRAPE_OK ? "up"
                                                 : "down";

    buf_add(out, STR("<tr>"));
    add_cell(out, show_task_name(t));
    buf_addf(out, "<td class=%s>%s</td>", class,
             !o->at_ns ? "not yet" : scrape_reason_words(o->reason));
    add_ago(out, o->at_ns);
    buf_addf(out,
             "<td class=number>%.3f s</td><td class=number>%" PRIu64
             "</td><td class=number>%" PRIu64 " / %" PRIu64 "</td>",
             (double)o->duration_ns / 1e9, o->bytes, o->good, o->bad);
    add_cell(out, str_from(o->words));
    buf_add(out, STR("</tr>\n"));
}

static void add_target(struct buf *out, const struct entry *e)
{
    const struct target *t = e->target;
    const char *health = show_health_words(show_health_of(e));

    buf_add(out, STR("<h3>"));
    buf_add_html(out, t->service);
    buf_add_char(out, ' ');
    buf_add_html(out, t->instance);
    buf_addf(out, " <span class=%s>%s</span></h3>\n<p><small>", health, health);
    buf_add_html(out, e->is_self ? STR("this process") : t->url);
    if (!e->is_self)
        buf_add_html(out, t->path_prefix);
    if (e->flavour != FLAVOUR_UNKNOWN)
        buf_addf(out, " (%s)", flavour_words(e->flavour));
    for (size_t i = 0; i < t->labels.n; i++) {
        buf_add(out, STR(" "));
        buf_add_html(out, t->labels.v[i].name);
        buf_add(out, STR("=\""));
        buf_add_html(out, t->labels.v[i].value);
        buf_add_char(out, '"');
    }
    buf_add(out, STR("</small></p>\n<table>\n<tr><th>Profile<th>Last "
                     "scrape<th>When<th>Took<th>Bytes<th>Good / bad<th>Error"
                     "</tr>\n"));
    for (const struct task *k = e->tasks; k; k = k->next)
        add_task(out, k);
    buf_add(out, STR("</table>\n"));
}

static void add_summary(struct buf *out, const struct show_list *list)
{
    size_t counts[3] = {0};

    for (size_t i = 0; i < list->n; i++)
        counts[show_health_of(list->v[i])]++;
    buf_addf(out,
             "<p><span class=up>%zu up</span>, <span class=down>%zu "
             "down</span>, <span class=unknown>%zu not scraped yet</span>. "
             "The same as JSON: <a href=\"api/1/targets\">/api/1/targets</a>."
             "</p>\n",
             counts[SHOW_UP], counts[SHOW_DOWN], counts[SHOW_UNKNOWN]);
    if (list->n > MAX_ROWS)
        buf_addf(out, "<p>The first %d are shown, failing ones first.</p>\n",
                 MAX_ROWS);
}

/* Its failure, or in what state it is. */
static void add_discovery(struct buf *out, const struct job *j,
                          const struct discovery *d)
{
    struct buf words = BUF_INIT((size_t)16 << 10);
    struct error err;
    bool fails = d->ops->failure && d->ops->failure(d->self, &err);

    if (d->ops->status)
        d->ops->status(d->self, &words);
    else if (fails)
        buf_add(&words, str_from(err.text));
    if (words.len) {
        buf_addf(out, "<p class=%s>Discovery of job ",
                 fails ? "down" : "unknown");
        buf_add_html(out, j->config->name);
        buf_add(out, fails ? STR(" fails: ") : STR(": "));
        buf_add_html(out, buf_str(&words));
        buf_add(out, STR("</p>\n"));
    }
    buf_release(&words);
}

static void add_jobs(struct buf *out, const struct scraper *s)
{
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct job *j = &s->jobs[i];

        if (j->wrong) {
            buf_add(out, STR("<p class=down>Job "));
            buf_add_html(out, j->config->name);
            buf_addf(out, ": %zu targets cannot be scraped: ", j->wrong);
            buf_add_html(out, str_from(j->failure.text));
            buf_add(out, STR("</p>\n"));
        }
        for (size_t k = 0; k < j->n; k++)
            add_discovery(out, j, &j->discoveries[k]);
    }
}

void show_targets_page(struct scraper *s, struct buf *out,
                       show_may_see *may_see, void *arg)
{
    struct arena *a = arena_new();
    struct show_list list;
    size_t shown = 0;

    pthread_mutex_lock(&s->lock);
    list = show_list_make(s, a, may_see, arg);
    buf_add(out, str_from(head));
    add_summary(out, &list);
    add_jobs(out, s);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < list.n && shown < MAX_ROWS; i++)
            if ((show_health_of(list.v[i]) == SHOW_DOWN) == (pass == 0)) {
                add_target(out, list.v[i]);
                shown++;
            }
    buf_add(out, STR("</body>\n</html>\n"));
    pthread_mutex_unlock(&s->lock);
    arena_free(a);
}
