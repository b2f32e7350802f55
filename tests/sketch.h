#ifndef TESTS_SKETCH_H
#define TESTS_SKETCH_H

/*
 * Profiles from a few lines of text, and back, so that a test shows what it
 * has and what it wants:
 *
 *     types samples/count cpu/nanoseconds
 *     period cpu/nanoseconds 10
 *     time 5
 *     duration 7
 *     default cpu
 *     comment words
 *     drop malloc
 *     keep main
 *     map /bin/app 1000-5000 build
 *     main;read<copy@io.c:7 2 20 key=value size:4kb n:3
 *
 * A sample is a line: frames from the root, values, labels.  "a<b" is one
 * location: b inlined in a.  "a@file:7" says file and line.  "app!a" puts a
 * location into the mapping with that file name, "!" is a location without
 * lines, "-" a sample without frames; "a#1f" has address 0x1f.  Equal texts
 * are one location; a "+" at the end makes another one with equal content.
 *
 * sketch_of() writes the samples (and only them) in the same form.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "profile/profile.h"

struct sketch {
    struct profile *p;
    struct sample_builder samples;
    VEC(struct str) frames; /* the text of each location */
    VEC(struct str) functions;
};

static inline struct str sketch_word(struct str *rest)
{
    struct str word = STR("");

    while (str_split(rest, ' ', &word))
        if (word.n)
            return word;
    return STR("");
}

/* Cuts s at the last `c`; what is behind it, or "". */
static inline struct str sketch_cut(struct str *s, char c)
{
    ptrdiff_t at = str_rfind_char(*s, c);
    struct str behind;

    if (at < 0)
        return STR("");
    behind = str_skip(*s, (size_t)at + 1);
    *s = str_first(*s, (size_t)at);
    return behind;
}

static inline int64_t sketch_number(struct str s, int base)
{
    int64_t value = 0;

    if (s.n && !str_to_i64(s, base, &value))
        assert(false && "a number in a sketch");
    return value;
}

static inline struct value_type sketch_type(struct profile *p, struct str s)
{
    struct str unit = sketch_cut(&s, '/');

    return (struct value_type){profile_intern(p, s), profile_intern(p, unit)};
}

static inline uint32_t sketch_function(struct sketch *k, struct str name,
                                       struct str file)
{
    struct profile *p = k->p;
    struct function f = {
        .id = p->functions.n + 1,
        .name = profile_intern(p, name),
        .system_name = profile_intern(p, name),
        .filename = profile_intern(p, file),
    };

    for (size_t i = 0; i < p->functions.n; i++)
        if (p->functions.v[i].name == f.name &&
            p->functions.v[i].filename == f.filename)
            return (uint32_t)i;
    *vec_push(p->arena, &p->functions) = f;
    return (uint32_t)(p->functions.n - 1);
}

static inline void sketch_line(struct sketch *k, struct str text)
{
    struct profile *p = k->p;
    struct str file = sketch_cut(&text, '@'), line = STR("");

    line = sketch_cut(&file, ':');
    *vec_push(p->arena, &p->lines) = (struct line){
        .function = sketch_function(k, text, file),
        .line = sketch_number(line, 10),
    };
}

static inline uint32_t sketch_mapping(const struct profile *p, struct str file)
{
    for (size_t i = 0; i < p->mappings.n; i++)
        if (str_eq(profile_str(p, p->mappings.v[i].file), file))
            return (uint32_t)i;
    return NO_INDEX;
}

/* Lines are written outermost first and stored innermost first. */
static inline uint32_t sketch_location(struct sketch *k, struct str text)
{
    struct profile *p = k->p;
    struct location l = {.id = p->locations.n + 1,
                         .mapping = NO_INDEX,
                         .line_start = (uint32_t)p->lines.n};
    struct str whole = arena_str(p->arena, text), lines = text, line, address;
    ptrdiff_t bang = str_find_char(text, '!');

    for (size_t i = 0; i < k->frames.n; i++)
        if (str_eq(k->frames.v[i], text))
            return (uint32_t)i;
    if (bang >= 0) {
        l.mapping = sketch_mapping(p, str_first(text, (size_t)bang));
        lines = str_skip(text, (size_t)bang + 1);
    }
    if (str_has_suffix(lines, STR("+")))
        lines.n--;
    address = sketch_cut(&lines, '#');
    l.address = (uint64_t)sketch_number(address, 16);
    while (lines.n) {
        line = sketch_cut(&lines, '<');
        if (line.n == 0) {
            line = lines;
            lines.n = 0;
        }
        sketch_line(k, line);
        l.n_lines++;
    }
    *vec_push(p->arena, &k->frames) = whole;
    *vec_push(p->arena, &p->locations) = l;
    return (uint32_t)(p->locations.n - 1);
}

static inline void sketch_label(struct sketch *k, struct str text)
{
    struct profile *p = k->p;
    ptrdiff_t equals = str_find_char(text, '=');
    ptrdiff_t colon = str_find_char(text, ':');
    struct label label = {0};
    size_t digits = 0;

    if (equals >= 0) {
        label.key = profile_intern(p, str_first(text, (size_t)equals));
        label.str = profile_intern(p, str_skip(text, (size_t)equals + 1));
    } else {
        assert(colon > 0);
        label.key = profile_intern(p, str_first(text, (size_t)colon));
        text = str_skip(text, (size_t)colon + 1);
        while (digits < text.n &&
               (text.s[digits] == '-' ||
                (text.s[digits] >= '0' && text.s[digits] <= '9')))
            digits++;
        label.num = sketch_number(str_first(text, digits), 10);
        label.str = profile_intern(p, str_skip(text, digits));
        label.kind = label.str ? LABEL_MEASURE : LABEL_NUMBER;
    }
    sample_builder_label(&k->samples, label);
}

static inline void sketch_sample(struct sketch *k, struct str frames,
                                 struct str rest)
{
    struct profile *p = k->p;
    int64_t values[16] = {0};
    size_t labels = k->samples.labels_n;
    struct str word;

    if (str_eq(frames, STR("-")))
        frames = STR("");
    while (frames.n) {
        struct str frame = sketch_cut(&frames, ';');

        if (frame.n == 0) {
            frame = frames;
            frames.n = 0;
        }
        sample_builder_frame(&k->samples, sketch_location(k, frame));
    }
    for (size_t i = 0; i < p->types.n; i++)
        values[i] = sketch_number(sketch_word(&rest), 10);
    while ((word = sketch_word(&rest)).n)
        sketch_label(k, word);
    if (k->samples.labels_n > labels)
        profile_sort_labels(p, p->labels + labels,
                            k->samples.labels_n - labels);
    sample_builder_end(&k->samples, values);
}

static inline void sketch_map(struct profile *p, struct str rest)
{
    struct mapping m = {.id = p->mappings.n + 1};
    struct str range, limit;

    m.file = profile_intern(p, sketch_word(&rest));
    range = sketch_word(&rest);
    limit = sketch_cut(&range, '-');
    m.start = (uint64_t)sketch_number(range, 16);
    m.limit = (uint64_t)sketch_number(limit, 16);
    m.build_id = profile_intern(p, sketch_word(&rest));
    *vec_push(p->arena, &p->mappings) = m;
}

/* A header line; false when the line is a sample. */
static inline bool sketch_header(struct profile *p, struct str word,
                                 struct str rest)
{
    struct str type;

    if (str_eq(word, STR("types"))) {
        while ((type = sketch_word(&rest)).n)
            *vec_push(p->arena, &p->types) = sketch_type(p, type);
    } else if (str_eq(word, STR("period"))) {
        p->period_type = sketch_type(p, sketch_word(&rest));
        p->period = sketch_number(sketch_word(&rest), 10);
    } else if (str_eq(word, STR("time"))) {
        p->time_ns = sketch_number(rest, 10);
    } else if (str_eq(word, STR("duration"))) {
        p->duration_ns = sketch_number(rest, 10);
    } else if (str_eq(word, STR("default"))) {
        p->default_type = profile_intern(p, rest);
    } else if (str_eq(word, STR("comment"))) {
        *vec_push(p->arena, &p->comments) = profile_intern(p, rest);
    } else if (str_eq(word, STR("doc"))) {
        p->doc_url = profile_intern(p, rest);
    } else if (str_eq(word, STR("drop"))) {
        p->drop_frames = profile_intern(p, rest);
    } else if (str_eq(word, STR("keep"))) {
        p->keep_frames = profile_intern(p, rest);
    } else if (str_eq(word, STR("map"))) {
        sketch_map(p, rest);
    } else {
        return false;
    }
    return true;
}

static inline struct profile *sketch(const char *text)
{
    struct sketch k = {.p = profile_new()};
    struct str rest = str_from(text), line;

    sample_builder_init(&k.samples, k.p);
    while (str_next_line(&rest, &line)) {
        struct str word = sketch_word(&line);

        if (word.n && !sketch_header(k.p, word, line))
            sketch_sample(&k, word, line);
    }
    return k.p;
}

static inline void sketch_add_frame(struct buf *b, const struct profile *p,
                                    const struct location *l)
{
    if (l->mapping != NO_INDEX) {
        buf_add(b, profile_str(p, p->mappings.v[l->mapping].file));
        buf_add_char(b, '!');
    } else if (l->n_lines == 0) {
        buf_add_char(b, '!');
    }
    for (size_t i = l->n_lines; i-- > 0;) {
        const struct line *line = &p->lines.v[l->line_start + i];
        const struct function *f = &p->functions.v[line->function];

        buf_add(b, profile_str(p, f->name));
        if (f->filename)
            buf_addf(b, "@%" STR_FMT, STR_ARG(profile_str(p, f->filename)));
        if (line->line)
            buf_addf(b, ":%lld", (long long)line->line);
        if (i)
            buf_add_char(b, '<');
    }
    if (l->address)
        buf_addf(b, "#%llx", (unsigned long long)l->address);
}

static inline void sketch_add_label(struct buf *b, const struct profile *p,
                                    const struct label *label)
{
    buf_add_char(b, ' ');
    buf_add(b, profile_str(p, label->key));
    if (label->kind == LABEL_STRING)
        buf_add_char(b, '=');
    else
        buf_addf(b, ":%lld", (long long)label->num);
    if (label->kind != LABEL_NUMBER)
        buf_add(b, profile_str(p, label->str));
}

/* The samples as text, a line each; the caller frees it. */
static inline char *sketch_of(const struct profile *p)
{
    struct buf b = BUF_INIT(BUF_NO_LIMIT);
    char *text;

    for (size_t i = 0; i < p->n_samples; i++) {
        size_t first = p->loc_start[i];

        if (p->loc_start[i + 1] == first)
            buf_add_char(&b, '-');
        for (size_t f = p->loc_start[i + 1]; f-- > first;) {
            sketch_add_frame(&b, p, &p->locations.v[p->stack[f]]);
            if (f > first)
                buf_add_char(&b, ';');
        }
        for (size_t t = 0; t < p->types.n; t++)
            buf_addf(&b, " %lld", (long long)p->values[i * p->types.n + t]);
        for (size_t l = p->label_start[i]; l < p->label_start[i + 1]; l++)
            sketch_add_label(&b, p, &p->labels[l]);
        buf_add_char(&b, '\n');
    }
    text = strdup(buf_cstr(&b));
    buf_release(&b);
    return text;
}

#define EXPECT_SKETCH(p, want) sketch_expect(__FILE__, __LINE__, (p), (want))

static inline void sketch_expect(const char *file, int line,
                                 const struct profile *p, const char *want)
{
    char *got = sketch_of(p);

    test_expect_str(file, line, str_from(got), str_from(want));
    free(got);
}

#endif
