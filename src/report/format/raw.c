/*
 * -raw: the whole profile as text.
 *
 * A profile of a million samples has tens of millions of frames; each is
 * printed as its location's id.  The texts of the ids are made once, in
 * slots of fixed size that are copied whole and overlap in the output.
 */
#include <string.h>

#include "base/goformat.h"
#include "base/number.h"
#include "report/context.h"
#include "report/sample_labels.h"

struct id_text { /* "123 " */
    char text[NUMBER_I64_MAX + 3];
    uint8_t n;
};

static void add_labels(const struct profile *p, size_t sample,
                       struct text_list *list, struct buf *out)
{
    bool strings_open = true;
    struct label_group g;
    size_t at = 0;

    while (label_group_next(p, sample, &at, &g)) {
        struct buf *b = &list->bytes;

        if (strings_open && g.kind != LABEL_STRING) {
            if (list->ends.n > 0) {
                buf_add_pad(out, ' ', 16);
                text_list_flush(list, out, STR(" "));
                buf_add_char(out, '\n');
            }
            strings_open = false;
        }
        buf_add(b, profile_str(p, g.key));
        buf_add(b, STR(":["));
        for (size_t i = 0; i < g.n; i++) {
            if (i > 0)
                buf_add_char(b, ' ');
            if (g.kind != LABEL_STRING)
                buf_add_i64(b, g.labels[i].num);
            if (g.kind == LABEL_MEASURE)
                buf_add_char(b, ' ');
            if (g.kind != LABEL_NUMBER)
                buf_add(b, profile_str(p, g.labels[i].str));
        }
        buf_add_char(b, ']');
        text_list_end(list);
    }
    if (list->ends.n == 0)
        return;
    buf_add_pad(out, ' ', 16);
    text_list_flush(list, out, STR(" "));
    buf_add_char(out, '\n');
}

static const struct id_text *location_id_texts(const struct profile *p,
                                               struct arena *a)
{
    struct id_text *ids = arena_new_array(a, struct id_text, p->locations.n);

    for (size_t i = 0; i < p->locations.n; i++) {
        size_t n = number_put_u64(ids[i].text, p->locations.v[i].id);

        ids[i].text[n] = ' ';
        ids[i].n = (uint8_t)(n + 1);
    }
    return ids;
}

static bool add_samples(struct report *r, struct buf *out, struct error *err)
{
    const struct profile *p = r->profile;
    const struct id_text *ids = location_id_texts(p, r->arena);
    struct text_list list;
    bool ok = true;

    text_list_init(&list, r->arena);
    for (size_t i = 0; ok && i < p->n_samples; i++) {
        const uint32_t *frame = p->stack + p->loc_start[i];
        size_t depth = profile_depth(p, i);
        char *to;

        for (size_t t = 0; t < p->types.n; t++) {
            buf_add_char(out, ' ');
            buf_add_i64_right(out, p->values[i * p->types.n + t], 10);
        }
        buf_add(out, STR(": "));
        to = buf_reserve(out, depth * sizeof(struct id_text));
        if (!to)
            break;
        for (size_t f = 0; f < depth; f++) {
            const struct id_text *id = &ids[frame[f]];

            memcpy(to, id->text, sizeof(id->text));
            to += id->n;
        }
        out->len = (size_t)(to - out->data);
        buf_add_char(out, '\n');
        add_labels(p, i, &list, out);
        ok = report_drain(r, out, err);
    }
    text_list_release(&list);
    return ok;
}

static void add_line(const struct profile *p, const struct line *line,
                     struct buf *out)
{
    const struct function *f;

    if (line->function == NO_INDEX) {
        buf_add(out, STR("??"));
        return;
    }
    f = &p->functions.v[line->function];
    buf_add(out, profile_str(p, f->name));
    buf_add_char(out, ' ');
    buf_add(out, profile_str(p, f->filename));
    buf_add_char(out, ':');
    buf_add_i64(out, line->line);
    buf_add_char(out, ':');
    buf_add_i64(out, line->column);
    buf_add(out, STR(" s="));
    buf_add_i64(out, f->start_line);
    if (f->name != f->system_name) {
        buf_add_char(out, '(');
        buf_add(out, profile_str(p, f->system_name));
        buf_add_char(out, ')');
    }
}

static void add_location(const struct profile *p, const struct location *l,
                         struct buf *out)
{
    char id[NUMBER_I64_MAX];
    size_t n = number_put_u64(id, l->id);

    buf_add_pad(out, ' ', n < 6 ? 6 - n : 0);
    buf_add_bytes(out, id, n);
    buf_add(out, STR(": "));
    buf_add_hex(out, l->address);
    buf_add_char(out, ' ');
    if (l->mapping != NO_INDEX) {
        buf_add(out, STR("M="));
        buf_add_u64(out, p->mappings.v[l->mapping].id);
        buf_add_char(out, ' ');
    }
    if (l->is_folded)
        buf_add(out, STR("[F] "));
    for (uint32_t i = 0; i < l->n_lines; i++) {
        if (i > 0) {
            buf_add_char(out, '\n');
            buf_add_pad(out, ' ', 13);
        }
        add_line(p, &p->lines.v[l->line_start + i], out);
    }
    buf_add_char(out, '\n');
}

static void add_mapping(const struct profile *p, const struct mapping *m,
                        struct buf *out)
{
    buf_add_u64(out, m->id);
    buf_add(out, STR(": "));
    buf_add_hex(out, m->start);
    buf_add_char(out, '/');
    buf_add_hex(out, m->limit);
    buf_add_char(out, '/');
    buf_add_hex(out, m->offset);
    buf_add_char(out, ' ');
    buf_add(out, profile_str(p, m->file));
    buf_add_char(out, ' ');
    buf_add(out, profile_str(p, m->build_id));
    buf_add_char(out, ' ');
    if (m->has_functions)
        buf_add(out, STR("[FN]"));
    if (m->has_filenames)
        buf_add(out, STR("[FL]"));
    if (m->has_line_numbers)
        buf_add(out, STR("[LN]"));
    if (m->has_inline_frames)
        buf_add(out, STR("[IN]"));
    buf_add_char(out, '\n');
}

/* The first four characters of the duration, as the original cuts it. */
static void add_duration(int64_t ns, struct buf *out)
{
    struct buf text = BUF_INIT(64);
    size_t end = 0;

    goformat_duration(&text, ns);
    for (int seen = 0; end < text.len; end++)
        if ((text.data[end] & 0xc0) != 0x80 && seen++ == 4)
            break;
    buf_add(out, STR("Duration: "));
    buf_add_bytes(out, text.data, end);
    buf_add_char(out, '\n');
    buf_release(&text);
}

static void add_types(const struct report *r, struct buf *out)
{
    const struct profile *p = r->profile;
    struct buf text = arena_buf(r->arena);

    for (size_t i = 0; i < p->types.n; i++) {
        buf_add(&text, profile_str(p, p->types.v[i].type));
        buf_add_char(&text, '/');
        buf_add(&text, profile_str(p, p->types.v[i].unit));
        if (p->types.v[i].type == p->default_type)
            buf_add(&text, STR("[dflt]"));
        buf_add_char(&text, ' ');
    }
    buf_add(out, str_trim(buf_str(&text)));
    buf_add_char(out, '\n');
    buf_release(&text);
}

static void add_header(const struct profile *p, struct buf *out)
{
    for (size_t i = 0; i < p->comments.n; i++) {
        buf_add(out, STR("Comment: "));
        buf_add(out, profile_str(p, p->comments.v[i]));
        buf_add_char(out, '\n');
    }
    if (p->doc_url != 0) {
        buf_add(out, STR("Doc: "));
        buf_add(out, profile_str(p, p->doc_url));
        buf_add_char(out, '\n');
    }
    buf_add(out, STR("PeriodType: "));
    buf_add(out, profile_str(p, p->period_type.type));
    buf_add_char(out, ' ');
    buf_add(out, profile_str(p, p->period_type.unit));
    buf_add(out, STR("\nPeriod: "));
    buf_add_i64(out, p->period);
    buf_add_char(out, '\n');
    if (p->time_ns != 0) {
        buf_add(out, STR("Time: "));
        goformat_time(out, p->time_ns);
        buf_add_char(out, '\n');
    }
    if (p->duration_ns != 0)
        add_duration(p->duration_ns, out);
}

bool format_raw(struct report *r, struct buf *out, struct error *err)
{
    const struct profile *p = r->profile;

    add_header(p, out);
    buf_add(out, STR("Samples:\n"));
    add_types(r, out);
    if (!add_samples(r, out, err))
        return false;
    buf_add(out, STR("Locations\n"));
    for (size_t i = 0; i < p->locations.n; i++)
        add_location(p, &p->locations.v[i], out);
    buf_add(out, STR("Mappings\n"));
    for (size_t i = 0; i < p->mappings.n; i++)
        add_mapping(p, &p->mappings.v[i], out);
    return true;
}
