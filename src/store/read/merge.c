/*
 * Merging: rows are summed segment by segment in the segment's own numbers,
 * which costs a few ns per sample; only distinct stacks are then carried
 * into the dictionary of the result.  The first segment's dictionary simply
 * becomes that of the result.
 *
 * Profiles whose sample types differ are kept apart until the end, where
 * they are made compatible as the analyser does it.
 *
 * What a merge takes from one of its profiles (frames to drop, the page of its
 * documentation) is the oldest one's: engines hand over profiles in different
 * orders, and the same engine does before and after sealing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/i64.h"
#include "base/memory_scope.h"
#include "profile/compatible.h"
#include "profile/merge.h"
#include "store/comments.h"
#include "store/grow.h"
#include "store/pack.h"
#include "store/rebuild.h"
#include "store/read/read.h"
#include "store/sums.h"

/* Profiles with the same sample types. */
struct group {
    struct sums here;  /* of the segment at hand */
    struct sums total; /* in the numbers of the result */
    uint32_t header;   /* of the oldest, in the result or of the segment */
    bool is_here;      /* of the segment at hand */
    int64_t oldest_ns;
    struct buf text; /* of the header, to decide between equal times */
    size_t n;
    int64_t time_ns, duration_ns, period;
};

/* A header of the segment at hand. */
struct seen {
    uint32_t group; /* + 1 */
    int64_t oldest_ns;
};

/* A text of the oldest profile that has one. */
struct first_text {
    struct buf bytes;
    int64_t time_ns;
};

struct merging {
    enum store_values values;
    struct dict result;
    bool has_result;
    struct table signatures; /* of groups */
    struct group *groups;
    size_t n_groups, groups_cap;

    const struct dict *d; /* the segment at hand */
    struct seen *seen;    /* by header */
    bool *image_seen;     /* by image */
    uint32_t *images;     /* in order, of the segment */
    size_t n_images, images_cap, seen_cap, image_seen_cap;

    uint32_t *all_images; /* of the result */
    size_t n_all_images, all_images_cap;
    struct comments comments;
    struct first_text first_text[2]; /* default type and URL */
    struct buf scratch;
};

static bool no_memory(struct error *err)
{
    return error_set(err, "out of memory");
}

static bool begin(void *arg, const struct dict *d, struct error *err)
{
    struct merging *k = arg;
    size_t headers = d->tables[DICT_HEADER].n, images = d->tables[DICT_IMAGE].n;

    k->d = d;
    k->n_images = 0;
    if (!grow(&k->seen, &k->seen_cap, headers + 1) ||
        !grow(&k->image_seen, &k->image_seen_cap, images + 1))
        return no_memory(err);
    memset(k->seen, 0, headers * sizeof(*k->seen));
    memset(k->image_seen, 0, images * sizeof(*k->image_seen));
    return true;
}

/* Types, units and period type as one text: what must be equal. */
static bool signature_of(struct merging *k, uint32_t header)
{
    struct wire_reader r = unpack_begin(dict_get(k->d, DICT_HEADER, header));
    uint32_t types, id;
    uint64_t cumulative;

    buf_clear(&k->scratch);
    if (!unpack_u32(&r, &types))
        return false;
    for (uint32_t i = 0; i < 2 * types; i++) {
        if (!unpack_u32(&r, &id))
            return false;
        pack_bytes(&k->scratch, dict_get(k->d, DICT_STRING, id));
    }
    if (!wire_read_varint(&r, &cumulative))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!unpack_u32(&r, &id))
            return false;
        pack_bytes(&k->scratch, dict_get(k->d, DICT_STRING, id));
    }
    return buf_ok(&k->scratch);
}

static bool note_first_text(struct first_text *t, struct str text,
                            int64_t time_ns)
{
    bool has_none = t->bytes.len == 0;

    if (!text.n ||
        !(has_none || row_is_older(time_ns, t->time_ns) ||
          (time_ns == t->time_ns && str_cmp(text, buf_str(&t->bytes)) < 0)))
        return true;
    t->time_ns = time_ns;
    buf_clear(&t->bytes);
    buf_add(&t->bytes, text);
    return buf_ok(&t->bytes);
}

/* The texts of a header that are collected from all profiles. */
static bool note_texts(struct merging *k, uint32_t header, int64_t time_ns)
{
    struct wire_reader r = unpack_begin(dict_get(k->d, DICT_HEADER, header));
    uint32_t types, id, texts[6], comments;
    uint64_t cumulative;

    if (!unpack_u32(&r, &types))
        return false;
    for (uint32_t i = 0; i < 2 * types; i++)
        if (!unpack_u32(&r, &id))
            return false;
    if (!wire_read_varint(&r, &cumulative))
        return false;
    for (int i = 0; i < 6; i++)
        if (!unpack_u32(&r, &texts[i]))
            return false;
    if (!unpack_u32(&r, &comments))
        return false;
    comments_next_profile(&k->comments, time_ns);
    for (uint32_t i = 0; i < comments; i++)
        if (!unpack_u32(&r, &id) ||
            !comments_add(&k->comments, dict_get(k->d, DICT_STRING, id)))
            return false;
    for (int i = 0; i < 2; i++) /* they stand behind the other four */
        if (!note_first_text(&k->first_text[i],
                             dict_get(k->d, DICT_STRING, texts[4 + i]),
                             time_ns))
            return false;
    return true;
}

static bool note_string(void *arg, enum dict_kind kind, uint32_t from,
                        uint32_t *to)
{
    struct merging *k = arg;

    *to = 0;
    pack_bytes(&k->scratch, dict_get(k->d, kind, from));
    return buf_ok(&k->scratch);
}

/* All texts of a header, in `scratch`. */
static bool write_header(struct merging *k, uint32_t header)
{
    struct buf ignored = BUF_INIT(STORE_BUF_BYTES);
    bool ok;

    buf_clear(&k->scratch);
    ok = dict_translate(DICT_HEADER, dict_get(k->d, DICT_HEADER, header),
                        note_string, k, &ignored);
    buf_release(&ignored);
    return ok;
}

/* Is it the oldest of its group so far? */
static bool choose_header(struct merging *k, struct group *g, uint32_t header,
                          int64_t time_ns)
{
    bool is_first = g->text.len == 0;

    if (!is_first && time_ns != g->oldest_ns &&
        !row_is_older(time_ns, g->oldest_ns))
        return true;
    if (!write_header(k, header))
        return false;
    if (!is_first && time_ns == g->oldest_ns &&
        str_cmp(buf_str(&k->scratch), buf_str(&g->text)) >= 0)
        return true;
    g->header = header;
    g->is_here = true;
    g->oldest_ns = time_ns;
    buf_clear(&g->text);
    buf_add(&g->text, buf_str(&k->scratch));
    return buf_ok(&g->text);
}

/* At the end of a segment: how old a header is is known only now. */
static bool note_headers(struct merging *k)
{
    size_t n = k->d->tables[DICT_HEADER].n;

    for (uint32_t i = 0; i < n; i++) {
        const struct seen *seen = &k->seen[i];

        if (seen->group && (!note_texts(k, i, seen->oldest_ns) ||
                            !choose_header(k, &k->groups[seen->group - 1], i,
                                           seen->oldest_ns)))
            return false;
    }
    return true;
}

static struct group *group_for(struct merging *k, const struct row_meta *m)
{
    struct seen *seen = &k->seen[m->header];
    uint32_t id;

    if (!seen->group) {
        if (!signature_of(k, m->header) ||
            !table_intern(&k->signatures, buf_str(&k->scratch), &id) ||
            !grow(&k->groups, &k->groups_cap, (size_t)id + 1))
            return NULL;
        if (id == k->n_groups) {
            k->groups[k->n_groups++] =
                (struct group){.text = BUF_INIT(STORE_BUF_BYTES)};
            k->groups[id].here.columns = k->groups[id].total.columns =
                m->n_totals;
        }
        *seen = (struct seen){id + 1, m->time_ns};
    }
    if (row_is_older(m->time_ns, seen->oldest_ns))
        seen->oldest_ns = m->time_ns;
    return &k->groups[seen->group - 1];
}

static bool note_image(struct merging *k, uint32_t image)
{
    if (k->image_seen[image])
        return true;
    k->image_seen[image] = true;
    if (!grow(&k->images, &k->images_cap, k->n_images + 1))
        return false;
    k->images[k->n_images++] = image;
    return true;
}

/* The rules of profile_merge(), whatever the order of profiles. */
static void add_header(struct group *g, const struct row_meta *m)
{
    if (row_is_older(m->time_ns, g->time_ns))
        g->time_ns = m->time_ns;
    g->duration_ns = i64_add(g->duration_ns, m->duration_ns);
    if (g->period == 0 || g->period < m->period)
        g->period = m->period;
    g->n++;
}

static bool add_row(void *arg, const struct scan_row *row, struct error *err)
{
    struct merging *k = arg;
    const struct row_meta *m = row->meta;
    struct group *g;
    bool ok;

    if (m->flags & ROW_OPAQUE)
        return true;
    g = group_for(k, m);
    if (!g || !note_image(k, m->image))
        return no_memory(err);
    add_header(g, m);
    if (k->values == STORE_CHANGES)
        ok = sums_add_changes(&g->here, m, row->samples, row->before,
                              row->cumulative);
    else
        ok = sums_add(&g->here, row->samples);
    return ok || no_memory(err);
}

/*
 * The end of a segment.
 */

static bool add_image(struct merging *k, uint32_t image)
{
    if (!grow(&k->all_images, &k->all_images_cap, k->n_all_images + 1))
        return false;
    k->all_images[k->n_all_images++] = image;
    return true;
}

/* The segment's dictionary becomes the result's. */
static bool adopt(struct merging *k, struct dict *own)
{
    k->result = *own;
    *own = (struct dict){0};
    k->has_result = true;
    for (size_t i = 0; i < k->n_groups; i++) {
        struct group *g = &k->groups[i];

        g->total = g->here;
        g->here = (struct sums){.columns = g->total.columns};
        g->is_here = false;
    }
    for (size_t i = 0; i < k->n_images; i++)
        if (!add_image(k, k->images[i]))
            return false;
    return true;
}

static bool carry_group(struct group *g, struct dict_import *m)
{
    size_t columns = g->here.columns;

    if (g->is_here &&
        !dict_import_record(m, DICT_HEADER, g->header, &g->header))
        return false;
    g->is_here = false;
    for (size_t i = 0; i < g->here.n; i++) {
        const int64_t *from = g->here.values + i * columns;
        uint32_t node, labels;
        int64_t *to;

        if (!dict_import_node(m, g->here.keys[i].node, &node) ||
            !dict_import_record(m, DICT_LABELS, g->here.keys[i].labels,
                                &labels))
            return false;
        to = sums_at(&g->total, node, labels);
        if (!to)
            return false;
        for (size_t c = 0; c < columns; c++)
            to[c] = i64_add(to[c], from[c]);
    }
    sums_release(&g->here);
    g->here.columns = columns;
    return true;
}

static bool carry(struct merging *k)
{
    struct dict_import m;
    bool ok = k->has_result || dict_init(&k->result);

    k->has_result = true;
    if (!ok || !dict_import_init(&m, k->d, &k->result))
        return false;
    for (size_t i = 0; ok && i < k->n_groups; i++)
        if (k->groups[i].here.n || k->groups[i].is_here)
            ok = carry_group(&k->groups[i], &m);
    for (size_t i = 0; ok && i < k->n_images; i++) {
        uint32_t image;

        ok = dict_import_record(&m, DICT_IMAGE, k->images[i], &image) &&
             add_image(k, image);
    }
    dict_import_release(&m);
    return ok;
}

static bool end(void *arg, struct dict *own, struct error *err)
{
    struct merging *k = arg;

    if (!k->n_images) /* no row of it matched */
        return true;
    if (!note_headers(k))
        return no_memory(err);
    if (!k->has_result && own)
        return adopt(k, own) || no_memory(err);
    return carry(k) || no_memory(err);
}

/*
 * The result.
 */

static bool is_zero(const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i])
            return false;
    return true;
}

/* The comments are sorted. */
static struct profile *group_profile(struct merging *k, const struct group *g,
                                     const struct comment *comments,
                                     size_t n_comments)
{
    const struct sums *s = &g->total;
    struct rebuilder b;
    bool ok = true;

    if (!rebuild_begin(&b, &k->result, g->header))
        return NULL;
    b.p->time_ns = g->time_ns;
    b.p->duration_ns = g->duration_ns;
    b.p->period = g->period;
    b.p->comments.n = 0; /* those of the first profile are among all */
    for (size_t i = 0; i < n_comments; i++)
        rebuild_comment(&b, comments[i].text);
    if (!b.p->default_type)
        b.p->default_type =
            profile_intern(b.p, buf_str(&k->first_text[0].bytes));
    if (!b.p->doc_url)
        b.p->doc_url = profile_intern(b.p, buf_str(&k->first_text[1].bytes));
    for (size_t i = 0; ok && i < k->n_all_images; i++)
        ok = rebuild_image(&b, k->all_images[i]);
    for (size_t i = 0; ok && i < s->n; i++)
        if (!is_zero(s->values + i * s->columns, s->columns))
            ok = rebuild_sample(&b, s->keys[i].node, s->keys[i].labels,
                                s->values + i * s->columns);
    return rebuild_end(&b, ok);
}

/* The oldest first. */
static int by_age(const void *x, const void *y)
{
    const struct group *a = x, *b = y;

    if (a->oldest_ns != b->oldest_ns)
        return row_is_older(a->oldest_ns, b->oldest_ns) ? -1 : 1;
    return str_cmp(buf_str(&a->text), buf_str(&b->text));
}

struct result {
    struct merging *k;
    struct profile **parts;
    size_t n;
    struct profile *merged;
    enum store_status status; /* if there is no result */
    struct error *err;
};

/* One more merge joins what the analyser counts as the same place though
 * we store it apart, and makes different types alike. */
static void build_result(void *arg)
{
    struct result *r = arg;
    struct merging *k = r->k;
    size_t n_comments;
    const struct comment *comments = comments_sort(&k->comments, &n_comments);
    bool ok = true;

    qsort(k->groups, k->n_groups, sizeof(*k->groups), by_age);
    for (size_t i = 0; ok && i < k->n_groups; i++) {
        r->parts[r->n] = group_profile(k, &k->groups[i], comments, n_comments);
        ok = r->parts[r->n] != NULL ||
             error_set(r->err, "stored data are damaged");
        r->n += ok;
    }
    if (ok && r->n > 1 && !profile_make_compatible(r->parts, r->n, r->err)) {
        r->status = STORE_INVALID; /* what was asked for has no sum */
        ok = false;
    }
    if (ok)
        r->merged = profile_merge(r->parts, r->n, r->err);
    for (size_t i = 0; i < r->n; i++)
        profile_free(r->parts[i]);
}

static enum store_status make_result(struct merging *k, struct profile **out,
                                     struct error *err)
{
    struct result r = {.k = k, .err = err, .status = STORE_FAILED};
    bool ok;

    r.parts = calloc(k->n_groups + 1, sizeof(*r.parts));
    if (!r.parts)
        return store_no_memory(err);
    ok = memory_scope_run(MEMORY_UNLIMITED, build_result, &r, err) && r.merged;
    free(r.parts);
    if (ok)
        *out = r.merged;
    return ok ? STORE_OK : r.status;
}

static void release(struct merging *k)
{
    for (size_t i = 0; i < k->n_groups; i++) {
        sums_release(&k->groups[i].here);
        sums_release(&k->groups[i].total);
        buf_release(&k->groups[i].text);
    }
    free(k->groups);
    free(k->seen);
    free(k->image_seen);
    free(k->images);
    free(k->all_images);
    table_release(&k->signatures);
    comments_release(&k->comments);
    dict_release(&k->result);
    buf_release(&k->scratch);
    for (int i = 0; i < 2; i++)
        buf_release(&k->first_text[i].bytes);
}

enum store_status engine_merge(struct store *s, const struct store_query *q,
                               enum store_values values,
                               const struct store_budget *budget,
                               struct profile **out,
                               struct store_progress *progress,
                               struct error *err)
{
    struct merging k = {.values = values, .scratch = BUF_INIT(STORE_BUF_BYTES)};
    struct scan c = {.s = s,
                     .q = q,
                     .budget = budget,
                     .progress = progress,
                     .with_samples = true,
                     .with_changes = values == STORE_CHANGES,
                     .use_sums = true,
                     .segment = begin,
                     .row = add_row,
                     .segment_end = end,
                     .arg = &k};
    enum store_status status;

    k.first_text[0].bytes = k.first_text[1].bytes = BUF_INIT(STORE_BUF_BYTES);
    status = scan_run(&c, err);
    if (status == STORE_OK && k.n_groups == 0) {
        error_set(err, "nothing found");
        status = STORE_NOT_FOUND;
    }
    if (status == STORE_OK)
        status = make_result(&k, out, err);
    release(&k);
    return status;
}
