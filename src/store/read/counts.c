/*
 * Services, label names and label values with their counts.  What is added up
 * are the counts of series: profiles are not read.
 */
#include <stdlib.h>

#include "store/grow.h"
#include "store/pack.h"
#include "store/read/read.h"

struct counting {
    struct table keys; /* packed texts */
    struct scan_count *counts;
    size_t cap;
    struct str key; /* label whose values are counted; none: names */
    struct buf scratch;
    struct store_label *labels;
    size_t labels_cap;
};

static bool count(struct counting *k, struct str a, struct str b,
                  const struct scan_count *n)
{
    size_t known = k->keys.n;
    uint32_t id;

    buf_clear(&k->scratch);
    pack_bytes(&k->scratch, a);
    pack_bytes(&k->scratch, b);
    if (!buf_ok(&k->scratch) ||
        !table_intern(&k->keys, buf_str(&k->scratch), &id) ||
        !grow(&k->counts, &k->cap, (size_t)id + 1))
        return false;
    if (id == known)
        k->counts[id] = (struct scan_count){0};
    scan_add_count(&k->counts[id], n);
    return true;
}

static bool count_service(void *arg, const struct scan_row *row,
                          const struct scan_count *n, struct error *err)
{
    return count(arg, row->service, row->type, n) ||
           error_set(err, "out of memory");
}

static bool count_labels(void *arg, const struct scan_row *row,
                         const struct scan_count *n, struct error *err)
{
    struct counting *k = arg;
    bool ok;
    size_t n_labels;

    ok = series_labels(row->labels, &k->labels, &k->labels_cap, &n_labels);
    for (size_t i = 0; ok && i < n_labels; i++) {
        const struct store_label *label = &k->labels[i];

        if (!k->key.s) {
            if (i == 0 || !str_eq(label->key, label[-1].key))
                ok = count(k, label->key, STR(""), n);
        } else if (str_eq(label->key, k->key)) {
            ok = count(k, label->value, STR(""), n);
        }
    }
    return ok || error_set(err, "out of memory");
}

static struct store_count read_key(const struct counting *k, uint32_t id)
{
    struct wire_reader r = unpack_begin(table_get(&k->keys, id));
    struct store_count c = {.profiles = k->counts[id].profiles,
                            .first_ns = k->counts[id].first_ns,
                            .last_ns = k->counts[id].last_ns};

    unpack_bytes(&r, &c.text);
    unpack_bytes(&r, &c.type);
    return c;
}

static int compare(const void *x, const void *y, void *arg)
{
    struct store_count a = read_key(arg, *(const uint32_t *)x);
    struct store_count b = read_key(arg, *(const uint32_t *)y);
    int c = str_cmp(a.text, b.text);

    return c ? c : str_cmp(a.type, b.type);
}

static bool hand_out(struct counting *k, store_each_count *each, void *arg)
{
    uint32_t *order = malloc((k->keys.n + 1) * sizeof(*order));

    if (!order)
        return false;
    for (uint32_t i = 0; i < k->keys.n; i++)
        order[i] = i;
    qsort_r(order, k->keys.n, sizeof(*order), compare, k);
    for (size_t i = 0; i < k->keys.n; i++) {
        struct store_count c = read_key(k, order[i]);

        if (!each(arg, &c))
            break;
    }
    free(order);
    return true;
}

static enum store_status
run(struct store *s, const struct store_query *q,
    const struct store_budget *budget, struct str key,
    bool (*each_series)(void *, const struct scan_row *,
                        const struct scan_count *, struct error *),
    store_each_count *each, void *arg, struct error *err)
{
    struct counting k = {.key = key, .scratch = BUF_INIT(STORE_BUF_BYTES)};
    struct scan c = {
        .s = s, .q = q, .budget = budget, .count = each_series, .arg = &k};
    enum store_status status = scan_run(&c, err);

    if (status == STORE_OK && !hand_out(&k, each, arg))
        status = store_no_memory(err);
    table_release(&k.keys);
    free(k.counts);
    free(k.labels);
    buf_release(&k.scratch);
    return status;
}

enum store_status engine_services(struct store *s, const struct store_query *q,
                                  const struct store_budget *budget,
                                  store_each_count *each, void *arg,
                                  struct error *err)
{
    return run(s, q, budget, (struct str){0}, count_service, each, arg, err);
}

enum store_status engine_label_names(struct store *s,
                                     const struct store_query *q,
                                     const struct store_budget *budget,
                                     store_each_count *each, void *arg,
                                     struct error *err)
{
    return run(s, q, budget, (struct str){0}, count_labels, each, arg, err);
}

enum store_status
engine_label_values(struct store *s, const struct store_query *q,
                    struct str key, const struct store_budget *budget,
                    store_each_count *each, void *arg, struct error *err)
{
    if (!key.s)
        key = STR("");
    return run(s, q, budget, key, count_labels, each, arg, err);
}
