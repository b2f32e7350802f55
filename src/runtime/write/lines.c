/*
 * The store of lines.  Only pages and no malloc: it is filled by a thread of
 * ours inside the program.
 */
#include "runtime/write/lines.h"

#include <string.h>

#define TRIES 64 /* slots, for a function */

void lines_init(struct lines *l)
{
    *l = (struct lines){.places = {.size = sizeof(struct line_place)},
                        .frames = {.size = sizeof(struct line_frame)},
                        .functions = {.size = sizeof(struct line_function)},
                        .slots = {.size = sizeof(uint32_t)},
                        .text = {.size = 1}};
}

void lines_release(struct lines *l)
{
    pages_vec_release(&l->places);
    pages_vec_release(&l->frames);
    pages_vec_release(&l->functions);
    pages_vec_release(&l->slots);
    pages_vec_release(&l->text);
}

bool lines_reserve(struct lines *l, size_t slots)
{
    return pages_vec_push(&l->slots, slots) != NULL;
}

static uint32_t add_text(struct lines *l, struct str s)
{
    size_t at = l->text.n;
    char *to = pages_vec_push(&l->text, s.n + 1);

    if (!to || at > UINT32_MAX) {
        l->failed = true;
        return 0;
    }
    if (s.n)
        memcpy(to, s.s, s.n);
    to[s.n] = '\0';
    return (uint32_t)at;
}

static bool is_function(const struct lines *l, uint32_t i,
                        const struct symbol_frame *f)
{
    const struct line_function *v = lines_function(l, i);

    return v->start_line == f->start_line &&
           str_eq(lines_text(l, v->name), f->function) &&
           str_eq(lines_text(l, v->file), f->file);
}

static uint32_t find_function(struct lines *l, const struct symbol_frame *f)
{
    uint32_t *slots = l->slots.p;
    uint64_t hash = str_hash(f->function) * 31 + str_hash(f->file) +
                    (uint64_t)f->start_line;
    struct line_function *to;

    for (uint64_t i = hash, tries = 0; tries < TRIES; i++, tries++) {
        uint32_t *slot = &slots[i % l->slots.n];

        if (*slot && is_function(l, *slot - 1, f))
            return *slot - 1;
        if (*slot == 0) {
            *slot = (uint32_t)l->functions.n + 1;
            break;
        }
    }
    to = pages_vec_push(&l->functions, 1);
    if (!to) {
        l->failed = true;
        return 0;
    }
    *to = (struct line_function){add_text(l, f->function), add_text(l, f->file),
                                 f->start_line, 0};
    return (uint32_t)(l->functions.n - 1);
}

static bool add_frame(struct lines *l, const struct symbol_frame *f)
{
    uint32_t function = find_function(l, f);
    struct line_frame *to = pages_vec_push(&l->frames, 1);

    if (!to || l->failed) {
        l->failed = true;
        return false;
    }
    *to = (struct line_frame){function, f->line, f->column};
    return true;
}

void lines_add(struct lines *l, struct line_place *place,
               const struct symbol_frame *frames, size_t n)
{
    size_t first = l->frames.n;

    if (place->n || l->failed)
        return;
    /* Of a monstrous stack the outer part stays. */
    for (size_t i = n > LINES_MAX_FRAMES ? n - LINES_MAX_FRAMES : 0; i < n; i++)
        if (!add_frame(l, &frames[i]))
            return;
    place->first = (uint32_t)first;
    place->n = (uint32_t)(l->frames.n - first);
}

void lines_copy(struct lines *l, struct line_place *place,
                const struct lines *other, struct line_place from)
{
    const struct line_frame *f = lines_frames(other, from);
    struct symbol_frame frames[LINES_MAX_FRAMES];

    for (size_t i = 0; i < from.n; i++) {
        const struct line_function *function =
            lines_function(other, f[i].function);

        frames[i] = (struct symbol_frame){
            .function = lines_text(other, function->name),
            .file = lines_text(other, function->file),
            .line = f[i].line,
            .column = f[i].column,
            .start_line = function->start_line,
        };
    }
    lines_add(l, place, frames, from.n);
    place->is_final = from.is_final;
}
