/*
 * Records and their fingerprints.
 *
 * A record of a dictionary refers to others by number.  What is sent has in
 * their place the position in a list of fingerprints (`refs`), so that it
 * means the same everywhere: dict_translate() writes both forms.
 *
 * The fingerprint of a record covers its kind, the record in that form and
 * the fingerprints that it refers to.  The one of a stack is that of
 * profile/fingerprint.h, from those of its locations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "profile/fingerprint.h"
#include "store/clickhouse/engine.h"
#include "store/clickhouse/rowbin.h"
#include "store/clickhouse/sql.h"
#include "store/grow.h"
#include "store/header.h"

uint64_t ch_print(unsigned kind, const uint64_t *refs, size_t n,
                  struct str record)
{
    uint64_t h = fingerprint_step(64 + kind, fingerprint_text(record));

    for (size_t i = 0; i < n; i++)
        h = fingerprint_step(h, refs[i]);
    return h;
}

uint16_t ch_week(int64_t created_ns)
{
    uint16_t day = day_of(created_ns);

    return (uint16_t)(day - day % 7);
}

/* --- services ------------------------------------------------------------- */

static void release_known(struct ch_service *v)
{
    dict_release(&v->d);
    label_guard_release(&v->guard);
    for (size_t i = 0; i < KINDS; i++) {
        free(v->prints[i]);
        free(v->weeks[i]);
        v->prints[i] = NULL;
        v->weeks[i] = NULL;
        v->n[i] = v->prints_cap[i] = v->weeks_cap[i] = 0;
    }
}

void ch_service_forget(struct ch_service *v)
{
    uint32_t max = v->guard.max_values;

    release_known(v);
    v->guard = (struct label_guard){.max_values = max};
}

static struct ch_service *service_new(struct ch_store *s, struct str name)
{
    struct ch_service *v = calloc(1, sizeof(*v) + name.n + 1);

    if (!v)
        return NULL;
    memcpy(v->name, name.s, name.n);
    v->name_n = name.n;
    v->guard.max_values = s->opt.max_label_values;
    v->refs_scratch = v->record_scratch = BUF_INIT(STORE_BUF_BYTES);
    pthread_mutex_init(&v->lock, NULL);
    return v;
}

struct ch_service *ch_service_get(struct ch_store *s, struct str name)
{
    struct ch_service **at = &s->services[str_hash(name) % CHAINS], *v;

    pthread_mutex_lock(&s->registry);
    for (v = *at; v; v = v->next)
        if (str_eq(str_of(v->name, v->name_n), name))
            break;
    if (!v) {
        v = service_new(s, name);
        if (v) {
            v->next = *at;
            *at = v;
        }
    }
    pthread_mutex_unlock(&s->registry);
    return v;
}

void ch_services_free(struct ch_store *s)
{
    for (size_t i = 0; i < CHAINS; i++)
        while (s->services[i]) {
            struct ch_service *v = s->services[i];

            s->services[i] = v->next;
            release_known(v);
            buf_release(&v->refs_scratch);
            buf_release(&v->record_scratch);
            pthread_mutex_destroy(&v->lock);
            free(v);
        }
}

size_t ch_service_memory(const struct ch_service *v)
{
    size_t n = dict_memory(&v->d) + table_memory(&v->guard.pairs);

    for (size_t i = 0; i < KINDS; i++)
        n += v->prints_cap[i] * 8 + v->weeks_cap[i] * 2;
    return n;
}

/* --- fingerprints --------------------------------------------------------- */

struct noting {
    struct ch_service *v;
    uint32_t n; /* references so far */
};

/* A reference becomes its position; the fingerprint goes to the list. */
static bool note_ref(void *arg, enum dict_kind kind, uint32_t from,
                     uint32_t *to)
{
    struct noting *k = arg;

    if (from >= k->v->n[kind])
        return false;
    rowbin_u64(&k->v->refs_scratch, k->v->prints[kind][from]);
    *to = k->n++;
    return true;
}

/* The form that is sent, in the service's scratch buffers. */
static bool translate(struct ch_service *v, enum dict_kind kind, uint32_t i)
{
    struct noting k = {.v = v};

    buf_clear(&v->refs_scratch);
    buf_clear(&v->record_scratch);
    return dict_translate(kind, dict_get(&v->d, kind, i), note_ref, &k,
                          &v->record_scratch) &&
           buf_ok(&v->refs_scratch);
}

static uint64_t scratch_print(const struct ch_service *v, enum dict_kind kind)
{
    size_t n = v->refs_scratch.len / 8;
    uint64_t h = fingerprint_step(
        64 + kind, fingerprint_text(buf_str(&v->record_scratch)));

    for (size_t i = 0; i < n; i++) {
        uint64_t ref;

        memcpy(&ref, v->refs_scratch.data + 8 * i, 8);
        h = fingerprint_step(h, ref);
    }
    return h;
}

static bool make_room(struct ch_service *v, size_t kind, size_t n)
{
    if (!grow(&v->prints[kind], &v->prints_cap[kind], n) ||
        !grow(&v->weeks[kind], &v->weeks_cap[kind], n))
        return false;
    memset(v->weeks[kind] + v->n[kind], 0,
           (n - v->n[kind]) * sizeof(**v->weeks));
    return true;
}

/* Of all records that came with the last profile.  A record refers only to
 * kinds before its own. */
static bool print_new(struct ch_service *v)
{
    for (size_t kind = 0; kind < DICT_SERIES; kind++) {
        size_t n = v->d.tables[kind].n;

        if (!make_room(v, kind, n))
            return false;
        for (uint32_t i = (uint32_t)v->n[kind]; i < n; i++) {
            if (!translate(v, (enum dict_kind)kind, i))
                return false;
            v->prints[kind][i] = scratch_print(v, (enum dict_kind)kind);
            v->n[kind] = i + 1;
        }
    }
    if (!make_room(v, KIND_STACK, v->d.n_nodes))
        return false;
    for (size_t i = v->n[KIND_STACK]; i < v->d.n_nodes; i++) {
        const struct dict_node *node = &v->d.nodes[i];

        v->prints[KIND_STACK][i] =
            i ? fingerprint_call(v->prints[KIND_STACK][node->parent],
                                 v->prints[DICT_LOCATION][node->location])
              : FINGERPRINT_EMPTY_STACK;
    }
    v->n[KIND_STACK] = v->d.n_nodes;
    return true;
}

/* --- records that have to be sent ----------------------------------------- */

struct sending {
    struct ch_service *v;
    uint16_t week;
    struct buf *out;
};

static void begin_record(struct sending *k, size_t kind, uint64_t print)
{
    rowbin_u16(k->out, k->week);
    rowbin_text(k->out, str_of(k->v->name, k->v->name_n));
    rowbin_u8(k->out, (uint8_t)kind);
    rowbin_u64(k->out, print);
}

static bool send_record(struct sending *k, enum dict_kind kind, uint32_t i);

static bool send_ref(void *arg, enum dict_kind kind, uint32_t from,
                     uint32_t *to)
{
    *to = from;
    return send_record(arg, kind, from);
}

static bool send_refs(struct sending *k, enum dict_kind kind, uint32_t i)
{
    struct buf ignored = BUF_INIT(STORE_BUF_BYTES);
    bool ok = dict_translate(kind, dict_get(&k->v->d, kind, i), send_ref, k,
                             &ignored);

    buf_release(&ignored);
    return ok;
}

static bool send_record(struct sending *k, enum dict_kind kind, uint32_t i)
{
    struct ch_service *v = k->v;

    if (v->weeks[kind][i] == k->week + 1)
        return true;
    v->weeks[kind][i] = (uint16_t)(k->week + 1);
    if (kind != DICT_STRING && !send_refs(k, kind, i))
        return false;
    if (!translate(v, kind, i))
        return false;
    begin_record(k, kind, v->prints[kind][i]);
    wire_add_varint(k->out, v->refs_scratch.len / 8);
    buf_add(k->out, buf_str(&v->refs_scratch));
    rowbin_text(k->out, buf_str(&v->record_scratch));
    return true;
}

/* Leaf first. */
static bool send_stack(struct sending *k, uint32_t node)
{
    struct ch_service *v = k->v;
    const struct dict_node *nodes = v->d.nodes;
    size_t depth = 0;

    if (node == 0 || v->weeks[KIND_STACK][node] == k->week + 1)
        return true;
    v->weeks[KIND_STACK][node] = (uint16_t)(k->week + 1);
    for (uint32_t i = node; i; i = nodes[i].parent, depth++)
        if (!send_record(k, DICT_LOCATION, nodes[i].location))
            return false;
    begin_record(k, KIND_STACK, v->prints[KIND_STACK][node]);
    wire_add_varint(k->out, depth);
    for (uint32_t i = node; i; i = nodes[i].parent)
        rowbin_u64(k->out, v->prints[DICT_LOCATION][nodes[i].location]);
    rowbin_text(k->out, STR(""));
    return true;
}

static bool send_all(struct sending *k, const struct interner *t)
{
    struct buf ignored = BUF_INIT(STORE_BUF_BYTES);
    const struct row_samples *s = &t->samples;
    bool ok = send_record(k, DICT_HEADER, t->meta.header) &&
              send_record(k, DICT_IMAGE, t->meta.image);

    for (size_t i = 0; ok && i < s->n; i++)
        ok = send_stack(k, s->nodes[i]) &&
             (!s->labels[i] || send_record(k, DICT_LABELS, s->labels[i]));
    ok = ok && row_extras_translate(t->meta.extras, send_ref, k, &ignored);
    buf_release(&ignored);
    return ok && buf_ok(k->out);
}

/* --- the row -------------------------------------------------------------- */

static uint64_t series_print(const struct ch_service *v,
                             const struct store_put *put,
                             const struct store_label *labels)
{
    uint64_t h = fingerprint_step(96, fingerprint_text(put->type));

    h = fingerprint_step(h, fingerprint_text(str_of(v->name, v->name_n)));
    for (size_t i = 0; i < put->n_labels; i++) {
        h = fingerprint_step(h, fingerprint_text(labels[i].key));
        h = fingerprint_step(h, fingerprint_text(labels[i].value));
    }
    return h;
}

static bool write_extras(struct ch_service *v, struct str extras,
                         struct buf *out)
{
    struct noting k = {.v = v};

    buf_clear(&v->refs_scratch);
    buf_clear(&v->record_scratch);
    if (!row_extras_translate(extras, note_ref, &k, &v->record_scratch))
        return false;
    rowbin_text(out, buf_str(&v->record_scratch));
    wire_add_varint(out, v->refs_scratch.len / 8);
    buf_add(out, buf_str(&v->refs_scratch));
    return true;
}

/* Columns v0 to v3, then the others' values sample by sample. */
static void write_values(const struct row_samples *s, struct buf *out)
{
    size_t more = s->columns > 4 ? s->columns - 4 : 0;

    for (size_t c = 0; c < 4; c++) {
        size_t n = c < s->columns ? s->n : 0;

        wire_add_varint(out, n);
        for (size_t i = 0; i < n; i++)
            rowbin_i64(out, s->values[i * s->columns + c]);
    }
    wire_add_varint(out, more * s->n);
    for (size_t i = 0; more && i < s->n; i++)
        for (size_t c = 4; c < s->columns; c++)
            rowbin_i64(out, s->values[i * s->columns + c]);
}

static void write_samples(const struct ch_service *v,
                          const struct row_samples *s, struct buf *out)
{
    bool has_labels = false;

    wire_add_varint(out, s->n);
    for (size_t i = 0; i < s->n; i++) {
        rowbin_u64(out, v->prints[KIND_STACK][s->nodes[i]]);
        has_labels |= s->labels[i] != 0;
    }
    wire_add_varint(out, has_labels ? s->n : 0);
    for (size_t i = 0; has_labels && i < s->n; i++)
        rowbin_u64(out,
                   s->labels[i] ? v->prints[DICT_LABELS][s->labels[i]] : 0);
    write_values(s, out);
}

static void write_texts(const struct ch_service *v, const struct store_put *put,
                        const struct store_label *labels,
                        const struct row_meta *m, struct buf *out)
{
    rowbin_u16(out, day_of(m->created_ns));
    rowbin_text(out, str_of(v->name, v->name_n));
    rowbin_text(out, put->type);
    rowbin_i64(out, m->created_ns);
    buf_add_bytes(out, m->id.bytes, STORE_ID_BYTES);
    rowbin_u64(out, series_print(v, put, labels));
    wire_add_varint(out, put->n_labels);
    for (size_t i = 0; i < put->n_labels; i++)
        rowbin_text(out, labels[i].key);
    wire_add_varint(out, put->n_labels);
    for (size_t i = 0; i < put->n_labels; i++)
        rowbin_text(out, labels[i].value);
}

static bool write_row(struct ch_service *v, const struct interner *t,
                      const struct store_put *put,
                      const struct store_label *labels, struct ch_entry *e)
{
    const struct row_meta *m = &t->meta;
    struct buf *out = &e->row;
    uint64_t cumulative = 0;
    size_t types;

    if (!dict_header_types(&v->d, m->header, &types, &cumulative))
        return false;
    write_texts(v, put, labels, m, out);
    rowbin_u64(out, v->prints[DICT_HEADER][m->header]);
    rowbin_u64(out, cumulative);
    rowbin_u64(out, v->prints[DICT_IMAGE][m->image]);
    rowbin_u64(out, m->flags & ROW_OPAQUE);
    rowbin_i64(out, m->time_ns);
    rowbin_i64(out, m->duration_ns);
    rowbin_i64(out, m->period);
    rowbin_u64(out, m->posted_bytes);
    rowbin_u64(out, m->samples);
    wire_add_varint(out, m->n_totals);
    for (size_t i = 0; i < m->n_totals; i++)
        rowbin_i64(out, m->totals[i]);
    if (!write_extras(v, m->extras, out))
        return false;
    write_samples(v, &t->samples, out);
    rowbin_text(out, put->is_opaque ? put->bytes : STR(""));
    return buf_ok(out);
}

bool ch_service_write(struct ch_service *v, const struct interner *t,
                      const struct store_put *put,
                      const struct store_label *labels, struct ch_entry *e)
{
    struct sending k = {v, ch_week(t->meta.created_ns), &e->records};

    return print_new(v) && send_all(&k, t) && write_row(v, t, put, labels, e);
}
