#ifndef STORE_READ_READ_H
#define STORE_READ_READ_H

#include "store/read/scan.h"

/*
 * The reading operations, for every engine that can scan; their meaning is
 * in store.h.
 */
enum store_status engine_get(struct store *s, const struct store_id *id,
                             struct profile **out, struct error *err);
enum store_status engine_get_bytes(struct store *s, const struct store_id *id,
                                   struct buf *out, struct error *err);
enum store_status engine_describe(struct store *s, const struct store_id *id,
                                  store_each_profile *each, void *arg,
                                  struct error *err);
enum store_status engine_export(struct store *s, const struct store_query *q,
                                const struct store_budget *budget,
                                store_each_export *each, void *arg,
                                struct store_progress *progress,
                                struct error *err);
enum store_status engine_list(struct store *s, const struct store_query *q,
                              const struct store_page *page,
                              const struct store_budget *budget,
                              store_each_profile *each, void *arg,
                              struct store_progress *progress,
                              struct error *err);
enum store_status engine_merge(struct store *s, const struct store_query *q,
                               enum store_values values,
                               const struct store_budget *budget,
                               struct profile **out,
                               struct store_progress *progress,
                               struct error *err);
enum store_status engine_series(struct store *s, const struct store_series *q,
                                const struct store_budget *budget,
                                store_each_point *each, void *arg,
                                struct store_progress *progress,
                                struct error *err);
enum store_status engine_function(struct store *s,
                                  const struct store_function *q,
                                  const struct store_budget *budget,
                                  store_each_function_point *each, void *arg,
                                  struct store_progress *progress,
                                  struct error *err);
enum store_status engine_services(struct store *s, const struct store_query *q,
                                  const struct store_budget *budget,
                                  store_each_count *each, void *arg,
                                  struct error *err);
enum store_status engine_label_names(struct store *s,
                                     const struct store_query *q,
                                     const struct store_budget *budget,
                                     store_each_count *each, void *arg,
                                     struct error *err);
enum store_status
engine_label_values(struct store *s, const struct store_query *q,
                    struct str key, const struct store_budget *budget,
                    store_each_count *each, void *arg, struct error *err);
enum store_status engine_version(struct store *s, const struct store_query *q,
                                 const struct store_budget *budget,
                                 struct store_version *out, struct error *err);

/* Those of them in a table of operations. */
#define STORE_READ_OPS                                                         \
    .get = engine_get, .get_bytes = engine_get_bytes,                          \
    .describe = engine_describe, .list = engine_list, .merge = engine_merge,   \
    .series = engine_series, .function = engine_function,                      \
    .services = engine_services, .label_names = engine_label_names,            \
    .label_values = engine_label_values, .version = engine_version,            \
    .export_all = engine_export

/*
 * A row as a listing describes it; the arrays are used again for the next.
 */
struct description {
    struct store_profile p;
    struct store_label *labels;
    size_t labels_cap;
    struct store_total *totals;
    size_t totals_cap;
};

bool describe_row(struct description *d, const struct scan_row *row);
void description_release(struct description *d);

#endif
