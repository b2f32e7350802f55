/*
 * From settings to an archive, and its metrics.
 */
#include "cmd/pprofd/start_archive.h"

#include "base/log.h"
#include "cmd/pprofd/s3_place.h"
#include "collector/metrics_text.h"
#include "store/archive/archived_store.h"

static bool make_archive(const struct settings *s, struct arena *a,
                         struct archive **out, struct error *err)
{
    struct archive_options o = {
        .dir = arena_printf(a, "%" STR_FMT "/archive", STR_ARG(s->data)),
        .max_bytes = s->archive_spool,
        .connections = (unsigned)s->archive_connections,
    };
    struct s3_place place;

    if (!s3_place_parse(a, s->archive, &place, err) ||
        !s3_settings_read(s->archive, s->s3_endpoint, &o.server, err))
        return error_wrap(err, "storage.archive");
    if (o.connections == 0 || o.connections > 1000)
        return error_set(err, "storage.archive_connections: must be from 1 to "
                              "1000");
    o.bucket = place.bucket;
    o.prefix = place.prefix;
    *out = archive_new(&o, err);
    return *out || error_wrap(err, "%" STR_FMT, STR_ARG(s->archive));
}

bool start_archive(const struct settings *s, struct arena *a,
                   struct store **store, struct archive **archive,
                   struct error *err)
{
    struct store *both;

    if (s->archive.n == 0)
        return true;
    if (!make_archive(s, a, archive, err))
        return false;
    both = archived_store_new(*store, *archive, s->archive_memory,
                              s->exit_timeout_ns);
    if (!both) {
        archive_free(*archive, 0);
        *archive = NULL;
        return error_set(err, "out of memory");
    }
    *store = both;
    log_info("profiles are archived", log_str("place", s->archive));
    return true;
}

/* --- metrics -------------------------------------------------------------- */

static void metric(struct buf *out, const char *name, const char *type,
                   const char *help, uint64_t value)
{
    metric_family(out, name, type, help);
    metric_u64(out, name, "", value);
}

static void write_left_out(const struct archive_stats *s, struct buf *out)
{
    const char *name = "pprofd_archive_left_out_total";

    metric_family(out, name, "counter",
                  "Profiles that are stored but not archived, by reason.");
    metric_u64(out, name, "{reason=\"spool full\"}", s->full);
    metric_u64(out, name, "{reason=\"spool error\"}", s->unwritable);
    metric_u64(out, name, "{reason=\"long key\"}", s->long_keys);
    metric_u64(out, name, "{reason=\"damaged\"}", s->damaged);
}

void archive_metrics_write(void *arg, struct buf *out)
{
    struct archive_stats s;

    if (!arg)
        return;
    archive_get_stats(arg, &s);
    metric(out, "pprofd_archive_up", "gauge",
           "1 if the last try to write to the archive worked, or there was "
           "none yet.",
           !s.is_failing);
    metric(out, "pprofd_archive_waiting_profiles", "gauge",
           "Profiles that wait to be sent.", s.waiting);
    metric(out, "pprofd_archive_waiting_bytes", "gauge",
           "Bytes of profiles that wait to be sent.", s.waiting_bytes);
    metric(out, "pprofd_archive_sent_total", "counter", "Profiles sent.",
           s.sent);
    metric(out, "pprofd_archive_sent_bytes_total", "counter",
           "Bytes of profiles sent.", s.sent_bytes);
    metric(out, "pprofd_archive_failures_total", "counter",
           "Tries to send a profile that failed; each is made again.",
           s.failures);
    write_left_out(&s, out);
}
