/*
 * Names follow Prometheus' conventions.  `up` and its like have a prefix: a
 * Prometheus that scrapes pprofd's metrics has an `up` of its own.
 */
#include <inttypes.h>

#include "collector/metrics_text.h"
#include "collector/scrape/show_view.h"

static void add_totals(struct buf *out, const struct scraper *s)
{
    metric_family(out, "pprofd_scrapes_total", "counter",
                  "Profiles and index pages fetched, by result.");
    for (int i = 0; i < SCRAPE_REASONS; i++)
        buf_addf(out, "pprofd_scrapes_total{result=\"%s\"} %" PRIu64 "\n",
                 scrape_reason_words((enum scrape_reason)i),
                 s->counts.scrapes[i]);
    metric_family(out, "pprofd_scrape_bytes_total", "counter",
                  "Bytes of replies.");
    metric_u64(out, "pprofd_scrape_bytes_total", "", s->counts.bytes);
    metric_family(out, "pprofd_scrapes_missed_total", "counter",
                  "Scrapes that could not begin before the next one was due.");
    metric_u64(out, "pprofd_scrapes_missed_total", "", s->counts.missed);
    metric_family(out, "pprofd_scrape_late_max_seconds", "gauge",
                  "The longest time that a scrape began after it was due.");
    metric_seconds(out, "pprofd_scrape_late_max_seconds", "",
                   s->counts.late_ns_max);
    metric_family(out, "pprofd_scrapes_running", "gauge",
                  "Transfers in progress.");
    metric_u64(out, "pprofd_scrapes_running", "", s->counts.running);
    metric_family(out, "pprofd_scrapes_waiting", "gauge",
                  "Scrapes that are due and wait because a limit is reached.");
    metric_u64(out, "pprofd_scrapes_waiting", "", s->counts.waiting);
}

static void add_labels(struct buf *out, const struct entry *e)
{
    buf_add_char(out, '{');
    metric_label(out, "job", e->target->job->name);
    buf_add_char(out, ',');
    metric_label(out, "service", e->target->service);
    buf_add_char(out, ',');
    metric_label(out, "instance", e->target->instance);
}

static void add_health(struct buf *out, const struct show_list *list)
{
    size_t counts[3] = {0};

    for (size_t i = 0; i < list->n; i++)
        counts[show_health_of(list->v[i])]++;
    metric_family(out, "pprofd_scrape_targets", "gauge",
                  "Targets by their health.");
    for (int i = 0; i < 3; i++)
        buf_addf(out, "pprofd_scrape_targets{health=\"%s\"} %zu\n",
                 show_health_words((enum show_health)i), counts[i]);
    metric_family(out, "pprofd_scrape_up", "gauge",
                  "1 if the last scrapes of the target worked.");
    for (size_t i = 0; i < list->n && i < SHOW_METRIC_TARGETS; i++) {
        buf_add(out, STR("pprofd_scrape_up"));
        add_labels(out, list->v[i]);
        buf_addf(out, "} %d\n", show_health_of(list->v[i]) == SHOW_UP);
    }
}

/* One family over the tasks of the targets that have rows. */
static void add_tasks(struct buf *out, const struct show_list *list,
                      const char *name, const char *help,
                      void (*value)(struct buf *out, const struct outcome *o))
{
    metric_family(out, name, "gauge", help);
    for (size_t i = 0; i < list->n && i < SHOW_METRIC_TARGETS; i++)
        for (const struct task *t = list->v[i]->tasks; t; t = t->next) {
            if (!t->outcome.at_ns)
                continue;
            buf_add(out, str_from(name));
            add_labels(out, list->v[i]);
            buf_add_char(out, ',');
            metric_label(out, "profile", show_task_name(t));
            value(out, &t->outcome);
        }
}

static void add_duration(struct buf *out, const struct outcome *o)
{
    buf_add(out, STR("} "));
    metric_add_seconds(out, o->duration_ns);
}

static void add_size(struct buf *out, const struct outcome *o)
{
    buf_addf(out, "} %" PRIu64 "\n", o->bytes);
}

static void add_error(struct buf *out, const struct outcome *o)
{
    buf_addf(out, ",reason=\"%s\"} %d\n", scrape_reason_words(o->reason),
             o->reason != SCRAPE_OK);
}

void show_metrics(struct scraper *s, struct buf *out)
{
    struct arena *a = arena_new();
    struct show_list list;

    pthread_mutex_lock(&s->lock);
    list = show_list_make(s, a, NULL, NULL);
    add_totals(out, s);
    add_health(out, &list);
    add_tasks(out, &list, "pprofd_scrape_duration_seconds",
              "How long the last scrape took.", add_duration);
    add_tasks(out, &list, "pprofd_scrape_size_bytes",
              "The size of the last reply.", add_size);
    add_tasks(out, &list, "pprofd_scrape_last_error",
              "1 if the last scrape failed, with the reason.", add_error);
    pthread_mutex_unlock(&s->lock);
    arena_free(a);
}
