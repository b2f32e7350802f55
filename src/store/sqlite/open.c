/*
 * What has arrived and is not sealed: per service a dictionary that grows
 * and rows in the order of their coming.
 *
 * A row is stored as changes to the row before it in its series where that
 * is shorter, which heap profiles are by a factor of thirty.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/grow.h"
#include "store/header.h"
#include "store/pack.h"
#include "store/sqlite/engine.h"

enum {
    WHOLE_EVERY = 60, /* a row is stored whole at least this often */
    GIVE_UP = 3,      /* after so many rows that were shorter whole */
};

/*
 * Services.
 */

static struct service **chain_of(struct sqlite_store *s, struct str name)
{
    return &s->services[str_hash(name) % SERVICE_CHAINS];
}

static struct service *service_new(struct str name)
{
    struct service *v = calloc(1, sizeof(*v));
    char *copy = malloc(name.n + 1);

    if (!v || !copy) {
        free(v);
        free(copy);
        return NULL;
    }
    memcpy(copy, name.s, name.n);
    v->name = str_of(copy, name.n);
    pthread_mutex_init(&v->lock, NULL);
    return v;
}

static void service_free(struct service *v)
{
    open_segment_free(v->open);
    open_segment_free(v->sealing);
    pthread_mutex_destroy(&v->lock);
    free((char *)v->name.s);
    free(v);
}

struct service *service_get(struct sqlite_store *s, struct str name,
                            bool create)
{
    struct service **chain, *v;

    pthread_mutex_lock(&s->registry);
    chain = chain_of(s, name);
    for (v = *chain; v && !str_eq(v->name, name);)
        v = v->next;
    if (!v && create) {
        v = service_new(name);
        if (v) {
            v->next = *chain;
            *chain = v;
            s->n_services++;
        }
    }
    if (v)
        v->users++;
    pthread_mutex_unlock(&s->registry);
    return v;
}

void service_put(struct sqlite_store *s, struct service *v)
{
    struct service **at;

    pthread_mutex_lock(&s->registry);
    if (--v->users == 0 && !v->open && !v->sealing) {
        for (at = chain_of(s, v->name); *at != v;)
            at = &(*at)->next;
        *at = v->next;
        s->n_services--;
        service_free(v);
    }
    pthread_mutex_unlock(&s->registry);
}

/* The next service that has anything, from a chain on. */
static struct service *next_service(struct sqlite_store *s, size_t chain,
                                    struct service *after)
{
    struct service *v = after ? after->next : s->services[chain];

    while (!v && ++chain < SERVICE_CHAINS)
        v = s->services[chain];
    return v;
}

bool service_each(struct sqlite_store *s,
                  bool (*each)(struct service *v, void *arg), void *arg)
{
    struct service *v, *next;
    bool ok = true;

    pthread_mutex_lock(&s->registry);
    v = next_service(s, 0, NULL);
    if (v)
        v->users++;
    pthread_mutex_unlock(&s->registry);
    for (; v; v = next) {
        ok = ok && each(v, arg);
        pthread_mutex_lock(&s->registry);
        next = next_service(s, str_hash(v->name) % SERVICE_CHAINS, v);
        if (next)
            next->users++;
        pthread_mutex_unlock(&s->registry);
        service_put(s, v);
    }
    return ok;
}

/*
 * Segments.
 */

struct open_segment *open_segment_new(uint32_t max_label_values)
{
    static atomic_ullong last;
    struct open_segment *g = calloc(1, sizeof(*g));
    unsigned long long now = (unsigned long long)clock_realtime_ns(), was;

    if (!g || !dict_init(&g->d)) {
        free(g);
        return NULL;
    }
    was = atomic_load(&last);
    do /* never the same twice, even if the clock goes back */
        now = now > was ? now : was + 1;
    while (!atomic_compare_exchange_weak(&last, &was, now));
    g->generation = now;
    g->guard.max_values = max_label_values;
    g->opened_ns = clock_monotonic_ns();
    g->logged = dict_size(&g->d);
    return g;
}

void open_segment_free(struct open_segment *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_rows; i++)
        free(g->rows[i]);
    open_segment_forget(g);
    free(g->rows);
    free(g->series);
    free(g->id_slots);
    dict_release(&g->d);
    label_guard_release(&g->guard);
    free(g);
}

size_t open_segment_memory(const struct open_segment *g)
{
    return sizeof(*g) + dict_memory(&g->d) + table_memory(&g->guard.pairs) +
           g->row_bytes + g->rows_cap * sizeof(*g->rows) +
           g->series_cap * sizeof(*g->series) + g->id_mask * sizeof(uint32_t);
}

static size_t id_slot(const struct open_segment *g, const struct store_id *id)
{
    return str_hash(str_of((const char *)id->bytes, STORE_ID_BYTES)) &
           g->id_mask;
}

static bool index_ids(struct open_segment *g)
{
    size_t slots = 64;
    uint32_t *fresh;

    if (g->id_slots && g->n_rows < g->id_mask / 2)
        return true;
    while (slots / 2 <= g->n_rows + 1)
        slots *= 2;
    fresh = calloc(slots, sizeof(*fresh));
    if (!fresh)
        return false;
    free(g->id_slots);
    g->id_slots = fresh;
    g->id_mask = slots - 1;
    for (uint32_t i = 0; i < g->n_rows; i++) {
        size_t at = id_slot(g, &g->rows[i]->id);

        while (fresh[at])
            at = (at + 1) & g->id_mask;
        fresh[at] = i + 1;
    }
    return true;
}

static bool series_room(struct open_segment *g, uint32_t series)
{
    size_t n = g->n_series;

    if (!grow(&g->series, &g->series_cap, (size_t)series + 1))
        return false;
    for (; n <= series; n++)
        g->series[n] = (struct open_series){0};
    g->n_series = n;
    return true;
}

bool open_segment_add(struct open_segment *g, struct open_row *row)
{
    struct open_series *os;
    size_t at;

    if (!index_ids(g) || !grow(&g->rows, &g->rows_cap, g->n_rows + 1) ||
        !series_room(g, row->series))
        return false;
    os = &g->series[row->series];
    g->rows[g->n_rows++] = row;
    g->row_bytes += sizeof(*row) + row->meta_n + row->before_n + row->samples_n;
    for (at = id_slot(g, &row->id); g->id_slots[at];)
        at = (at + 1) & g->id_mask;
    g->id_slots[at] = (uint32_t)g->n_rows;
    if (os->last)
        os->last->next = row;
    else
        os->first = row;
    os->last = row;
    return true;
}

struct open_row *open_segment_find(const struct open_segment *g,
                                   const struct store_id *id)
{
    if (!g || !g->id_slots)
        return NULL;
    for (size_t at = id_slot(g, id); g->id_slots[at];
         at = (at + 1) & g->id_mask) {
        struct open_row *row = g->rows[g->id_slots[at] - 1];

        if (memcmp(&row->id, id, sizeof(*id)) == 0 && row->state != ROW_FAILED)
            return row;
    }
    return NULL;
}

void open_segment_forget(struct open_segment *g)
{
    for (size_t i = 0; i < g->n_series; i++) {
        g->row_bytes -= g->series[i].whole_n;
        free(g->series[i].whole);
        g->series[i].whole = NULL;
        g->series[i].whole_n = 0;
        g->series[i].is_carried = false;
    }
}

/*
 * Rows.
 */

static bool remember(struct open_segment *g, struct open_series *os,
                     struct str whole, const struct row_samples *s,
                     int64_t period)
{
    unsigned char *copy = malloc(whole.n);

    if (!copy)
        return false;
    memcpy(copy, whole.s, whole.n);
    g->row_bytes += whole.n - os->whole_n;
    free(os->whole);
    os->whole = copy;
    os->whole_n = whole.n;
    os->columns = s->columns;
    os->whole_period = period;
    os->is_carried = false;
    return true;
}

static struct open_row *make_row(const struct row_meta *m, struct str meta,
                                 struct str before, struct str samples)
{
    struct open_row *row = malloc(sizeof(*row) + meta.n + before.n + samples.n);

    if (!row)
        return NULL;
    *row = (struct open_row){.id = m->id, .series = m->series};
    row->created_ns = m->created_ns;
    row->meta_n = (uint32_t)meta.n;
    row->before_n = (uint32_t)before.n;
    row->samples_n = (uint32_t)samples.n;
    memcpy(row->bytes, meta.s, meta.n);
    if (before.n)
        memcpy(row->bytes + meta.n, before.s, before.n);
    memcpy(row->bytes + meta.n + before.n, samples.s, samples.n);
    return row;
}

bool open_series_pack(struct open_segment *g, struct row_meta *m,
                      const struct row_samples *s, struct row_samples *scratch,
                      struct open_row **out, struct buf *bytes)
{
    struct open_series *os;
    struct str whole, before = STR(""), samples;
    uint64_t cumulative;
    size_t types, meta_n, whole_n;
    bool known;

    if (!series_room(g, m->series) ||
        !dict_header_types(&g->d, m->header, &types, &cumulative))
        return false;
    os = &g->series[m->series];
    known = os->whole && os->columns == s->columns &&
            row_unpack(str_of((char *)os->whole, os->whole_n), os->whole_period,
                       os->columns, &g->d, NULL, scratch);
    if (cumulative)
        row_count_changes(m, cumulative, known ? scratch : NULL);
    buf_clear(bytes);
    row_meta_pack(m, bytes);
    meta_n = bytes->len;
    row_pack(s, m->period, bytes);
    whole_n = bytes->len - meta_n;
    if (known && os->lost < GIVE_UP && os->changes < WHOLE_EVERY)
        row_pack_changes(s, scratch, bytes);
    if (!buf_ok(bytes))
        return false;
    whole = str_of(bytes->data + meta_n, whole_n);
    samples = str_skip(buf_str(bytes), meta_n + whole_n);
    if (samples.n && samples.n < whole.n) {
        os->lost = 0;
        os->changes++;
    } else {
        os->lost += samples.n != 0;
        os->changes = 0;
        samples = whole;
    }
    if (known && os->is_carried)
        before = str_of((char *)os->whole, os->whole_n);
    *out = make_row(m, str_first(buf_str(bytes), meta_n), before, samples);
    if (!*out)
        return false;
    if (!cumulative && os->lost >= GIVE_UP) {
        g->row_bytes -= os->whole_n;
        free(os->whole);
        os->whole = NULL;
        os->whole_n = 0;
        return true;
    }
    if (remember(g, os, whole, s, m->period))
        return true;
    free(*out);
    return false;
}

/*
 * Carrying over: the next row of a cumulative series must find the last one,
 * though its segment is sealed.
 */

static bool carry_series(const struct open_segment *from, uint32_t series,
                         struct dict_import *m, struct open_segment *to,
                         struct row_samples *s)
{
    const struct open_series *os = &from->series[series];
    struct buf whole = BUF_INIT(STORE_BUF_BYTES);
    uint32_t id;
    bool ok = row_unpack(str_of((char *)os->whole, os->whole_n),
                         os->whole_period, os->columns, &from->d, NULL, s);

    for (size_t i = 0; ok && i < s->n; i++)
        ok = dict_import_node(m, s->nodes[i], &s->nodes[i]) &&
             dict_import_record(m, DICT_LABELS, s->labels[i], &s->labels[i]);
    ok = ok && dict_import_record(m, DICT_SERIES, series, &id) &&
         series_room(to, id);
    if (ok) {
        row_pack(s, 0, &whole);
        ok = buf_ok(&whole) &&
             remember(to, &to->series[id], buf_str(&whole), s, 0);
        to->series[id].is_carried = ok;
    }
    buf_release(&whole);
    return ok;
}

/* Returns true if the row is of a kind whose changes count. */
static bool is_cumulative(const struct open_segment *g,
                          const struct open_row *row)
{
    struct row_meta m = {0};
    struct wire_reader r;
    uint64_t cumulative = 0;
    size_t types;

    r = unpack_begin(str_of((const char *)row->bytes, row->meta_n));
    if (!row_meta_unpack(&m, &r, &g->d) ||
        !dict_header_types(&g->d, m.header, &types, &cumulative))
        cumulative = 0;
    row_meta_release(&m);
    return cumulative != 0;
}

bool open_segment_carry(const struct open_segment *from,
                        struct open_segment *to)
{
    struct dict_import m;
    struct row_samples s = {0};
    bool ok = true;

    if (!dict_import_init(&m, &from->d, &to->d))
        return false;
    for (uint32_t i = 0; ok && i < from->n_series; i++)
        if (from->series[i].whole && from->series[i].last &&
            is_cumulative(from, from->series[i].last))
            ok = carry_series(from, i, &m, to, &s);
    row_samples_release(&s);
    dict_import_release(&m);
    return ok;
}

/*
 * Reading.
 */

void open_reader_begin(struct open_reader *r, const struct open_segment *g,
                       uint32_t series, bool with_samples)
{
    r->g = g;
    r->row = series < g->n_series ? g->series[series].first : NULL;
    r->with_samples = with_samples;
    r->has_before = false;
    r->at_first = true;
    r->samples.n = r->before.n = 0;
}

static bool read_samples(struct open_reader *r, const struct open_row *row)
{
    const char *bytes = (const char *)row->bytes + row->meta_n;
    uint64_t cumulative;
    size_t types;

    if (!dict_header_types(&r->g->d, r->meta.header, &types, &cumulative))
        return false;
    if (row->before_n) {
        r->has_before = row_unpack(str_of(bytes, row->before_n), 0, types,
                                   &r->g->d, NULL, &r->before);
        if (!r->has_before)
            return false;
    } else if (!r->at_first) {
        row_samples_swap(&r->samples, &r->before);
        r->has_before = true;
    }
    r->at_first = false;
    return row_unpack(str_of(bytes + row->before_n, row->samples_n),
                      r->meta.period, types, &r->g->d,
                      r->has_before ? &r->before : NULL, &r->samples);
}

/* Rows that failed are not in the chain of changes: the row behind them is
 * whole.  Rows that are pending are, but nobody may see them yet. */
bool open_reader_next(struct open_reader *r, bool *more, struct error *err)
{
    for (; r->row; r->row = r->row->next) {
        const struct open_row *row = r->row;
        struct wire_reader at;

        if (row->state == ROW_FAILED)
            continue;
        at = unpack_begin(str_of((const char *)row->bytes, row->meta_n));
        if (!row_meta_unpack(&r->meta, &at, &r->g->d) ||
            (r->with_samples && !read_samples(r, row)))
            return error_set(err, "out of memory");
        if (row->state == ROW_PENDING)
            continue;
        r->row = row->next;
        *more = true;
        return true;
    }
    *more = false;
    return true;
}

void open_reader_release(struct open_reader *r)
{
    row_meta_release(&r->meta);
    row_samples_release(&r->samples);
    row_samples_release(&r->before);
}

static bool wants_last(const struct open_segment *g, const struct open_row *row)
{
    struct str samples = str_of(
        (const char *)row->bytes + row->meta_n + row->before_n, row->samples_n);

    return row_is_changes(samples) || is_cumulative(g, row);
}

/* Only where it pays: rows stored as changes, or whose changes count. */
bool open_series_recall(struct open_segment *g, uint32_t series,
                        struct open_reader *r, struct error *err)
{
    struct open_series *os = &g->series[series];
    struct buf whole = BUF_INIT(STORE_BUF_BYTES);
    bool more = true, ok = true;

    if (!os->last || !wants_last(g, os->last))
        return true;
    open_reader_begin(r, g, series, true);
    while (ok && more)
        ok = open_reader_next(r, &more, err);
    if (ok && r->samples.n) {
        row_pack(&r->samples, 0, &whole);
        ok = buf_ok(&whole) && remember(g, os, buf_str(&whole), &r->samples, 0);
        if (!ok)
            error_set(err, "out of memory");
    }
    buf_release(&whole);
    return ok;
}
