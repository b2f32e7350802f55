/*
 * Instructions are collected by source line.  Within a line they are shown in
 * the order of addresses, with the inlined calls that lead to them above; a
 * call is not repeated for the next instruction.
 */
#include "report/code/annotated_source.h"

#include <stdlib.h>

#include "base/i64.h"
#include "base/path.h"
#include "report/code/code.h"
#include "report/code/source_files.h"

#define MERGE_LIMIT 20 /* lines of one function closer than this are joined */
#define MARGIN      5  /* lines shown around a function */

/* All instructions of a source line, as places[first..end). */
struct costed_line {
    int64_t line;
    struct str function; /* to show */
    size_t first, end;
    int64_t flat, cum;
};

struct span { /* of source lines that are shown together */
    struct str name;
    int64_t begin, end;
    int64_t flat, cum;
};

struct file {
    struct str name;
    size_t first, end; /* places */
    int64_t flat;
};

struct maker {
    struct report *report;
    const struct code *code;
    struct code_place *places; /* by file, line, order of finding */
    struct source_files sources;
    struct annotated_source *out;
};

static int by_file_and_line(const void *a, const void *b)
{
    const struct code_place *x = a, *y = b;
    int c = str_cmp(x->file, y->file);

    if (c != 0)
        return c;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    /* The order of finding is that of the instructions. */
    return (x->instruction > y->instruction) -
           (x->instruction < y->instruction);
}

static int by_flat(const void *a, const void *b)
{
    const struct file *x = a, *y = b;

    if (x->flat != y->flat)
        return x->flat < y->flat ? 1 : -1;
    return str_cmp(x->name, y->name);
}

static const struct code_instruction *at(const struct maker *m, size_t place)
{
    return &m->code->instructions.v[m->places[place].instruction];
}

/* --- instructions of a line --------------------------------------------- */

static bool same_call(const struct code_frame *a, const struct code_frame *b)
{
    return a->line == b->line && str_eq(a->file, b->file);
}

static size_t indentation(struct str line)
{
    size_t column = 0;

    for (size_t i = 0; i < line.n; i++) {
        if (line.s[i] == ' ')
            column++;
        else if (line.s[i] == '\t')
            column += 8 - column % 8;
        else
            break;
    }
    return column;
}

static struct str call_source(struct maker *m, const struct code_frame *call,
                              size_t indent)
{
    struct str text = STR("");

    source_line(source_files_get(&m->sources, call->file), call->line, &text);
    return str_from(arena_printf(m->report->arena, "%*s%" STR_FMT, (int)indent,
                                 "", STR_ARG(str_trim(text))));
}

/* The inlined calls above an instruction that were not shown above the one
 * before. */
static void add_calls(struct maker *m, const struct code_place *place,
                      const struct code_place *before, size_t indent,
                      struct listing_instruction *out)
{
    struct listing_call *calls = arena_new_array(
        m->report->arena, struct listing_call, place->n_callees);
    bool follow = before != NULL;
    size_t n = 0;

    for (size_t i = 0; i < place->n_callees; i++) {
        const struct code_frame *call = &place->callees[i];

        if (follow && i < before->n_callees &&
            same_call(call, &before->callees[i]))
            continue;
        follow = false;
        calls[n++] = (struct listing_call){
            .source = call_source(m, call, indent + 4 + i * 4),
            .file = path_base(call->file),
            .line = call->line,
        };
    }
    out->calls = calls;
    out->n_calls = n;
}

static void add_instructions(struct maker *m, const struct costed_line *c,
                             struct listing_line *line)
{
    size_t n = c->end - c->first, indent = indentation(line->source);
    struct listing_instruction *v =
        arena_new_array(m->report->arena, struct listing_instruction, n);
    uint64_t expected = 0;

    for (size_t i = 0; i < n; i++) {
        const struct code_place *place = &m->places[c->first + i];
        const struct code_instruction *x = at(m, c->first + i);

        v[i] = (struct listing_instruction){
            .address = x->file_address,
            .text = x->text,
            .file = x->file.n ? path_base(x->file) : STR(""),
            .line = x->line,
            .flat = x->flat,
            .cum = x->cum,
            .new_block = i > 0 && x->address != expected,
        };
        expected = x->address + x->length;
        add_calls(m, place, i ? place - 1 : NULL, indent, &v[i]);
    }
    line->instructions = v;
    line->n_instructions = n;
}

static bool worth_expanding(const struct maker *m, const struct costed_line *c)
{
    for (size_t i = c->first; i < c->end; i++)
        if (m->places[i].n_callees || at(m, i)->text.n)
            return true;
    return false;
}

/* --- functions of a file ------------------------------------------------ */

static void add_line(struct maker *m, const struct source_file *f,
                     int64_t number, const struct costed_line *c,
                     struct listing_function *out)
{
    struct listing_line line = {.line = number};

    if (!source_line(f, number, &line.source)) {
        if (!c)
            return;
        line.source = number ? STR("???")
                             : STR("<instructions with unknown line numbers>");
    }
    if (c) {
        line.has_cost = true;
        line.flat = c->flat;
        line.cum = c->cum;
        if (worth_expanding(m, c))
            add_instructions(m, c, &line);
    }
    *vec_push(m->report->arena, &out->lines) = line;
}

static void add_span(struct maker *m, const struct file *file,
                     const struct span *s, const struct costed_line *lines,
                     size_t n)
{
    const struct source_file *f = source_files_get(&m->sources, file->name);
    struct listing_function *out;
    size_t next = 0;

    if (s->cum == 0)
        return;
    out = vec_push(m->report->arena, &m->out->functions);
    out->name = s->name;
    out->file = file->name;
    out->flat = s->flat;
    out->cum = s->cum;
    for (int64_t l = s->begin; l < s->end; l++) {
        while (next < n && lines[next].line < l)
            next++;
        add_line(m, f, l,
                 next < n && lines[next].line == l ? &lines[next] : NULL, out);
    }
}

/* Shows some lines around each function, or half of the gap between two. */
static void widen(struct span *spans, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct span *s = &spans[i];
        int64_t half;

        if (i == 0) {
            if (s->begin > MARGIN)
                s->begin -= MARGIN;
            else if (s->begin > 1)
                s->begin = 1;
            continue;
        }
        half = (s->begin - spans[i - 1].end) / 2;
        half = half < MARGIN ? half : MARGIN;
        spans[i - 1].end += half;
        s->begin -= half;
    }
    if (n)
        spans[n - 1].end += MARGIN;
}

static size_t join_lines(const struct costed_line *lines, size_t n,
                         struct span *spans)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        const struct costed_line *l = &lines[i];
        struct span *last = used ? &spans[used - 1] : NULL;

        if (last && l->line - last->end < MERGE_LIMIT &&
            str_eq(last->name, l->function)) {
            last->end = l->line + 1;
            last->flat += l->flat;
            last->cum += l->cum;
            continue;
        }
        spans[used++] =
            (struct span){l->function, l->line, l->line + 1, l->flat, l->cum};
    }
    return used;
}

static size_t find_lines(struct maker *m, const struct file *file,
                         struct costed_line *lines)
{
    size_t n = 0;

    for (size_t i = file->first; i < file->end;) {
        struct costed_line *l = &lines[n++];

        *l = (struct costed_line){
            .line = m->places[i].line,
            .function = code_pretty_name(m->report, m->places[i].function),
            .first = i,
        };
        for (; i < file->end && m->places[i].line == l->line; i++) {
            l->flat += at(m, i)->flat;
            l->cum += at(m, i)->cum;
        }
        l->end = i;
    }
    return n;
}

static void add_file(struct maker *m, const struct file *file)
{
    struct arena *a = m->report->arena;
    size_t most = file->end - file->first;
    struct costed_line *lines = arena_new_array(a, struct costed_line, most);
    struct span *spans = arena_new_array(a, struct span, most);
    size_t n = find_lines(m, file, lines);
    size_t n_spans = join_lines(lines, n, spans);

    widen(spans, n_spans);
    for (size_t i = 0; i < n_spans; i++)
        add_span(m, file, &spans[i], lines, n);
}

/* What a file costs: an instruction counts once, however many of its
 * functions it lies in.  last_file[x] is the file that had it last, + 1. */
static int64_t file_flat(const struct maker *m, const struct file *f,
                         size_t number, size_t *last_file)
{
    int64_t flat = 0;

    for (size_t i = f->first; i < f->end; i++) {
        uint32_t x = m->places[i].instruction;

        if (last_file[x] != number + 1)
            flat = i64_add(flat, m->code->instructions.v[x].flat);
        last_file[x] = number + 1;
    }
    return flat;
}

bool listing_make(struct report *r, int max_files, struct annotated_source *out,
                  struct error *err)
{
    struct maker m = {.report = r, .out = out};
    struct code code = {0};
    struct file *files;
    size_t n, n_files = 0, *last_file;

    code_collect(r, &code);
    n = code.places.n;
    if (n == 0)
        return error_set(err, "no matches found for regexp: %" STR_FMT,
                         STR_ARG(r->request->argument));
    m.code = &code;
    m.places = code.places.v;
    source_files_init(&m.sources, r->arena, r->config.source_path,
                      r->config.trim_path);
    qsort(m.places, n, sizeof(*m.places), by_file_and_line);
    files = arena_new_array(r->arena, struct file, n);
    last_file = arena_new_array(r->arena, size_t, code.instructions.n);
    for (size_t i = 0; i < n;) {
        struct file *f = &files[n_files++];

        f->name = m.places[i].file;
        f->first = i;
        while (i < n && str_eq(m.places[i].file, f->name))
            i++;
        f->end = i;
        f->flat = file_flat(&m, f, n_files, last_file);
    }
    if (max_files >= 0)
        qsort(files, n_files, sizeof(*files), by_flat);
    for (size_t i = 0; i < n_files; i++)
        if (max_files < 0 || i < (size_t)max_files)
            add_file(&m, &files[i]);
    return true;
}
