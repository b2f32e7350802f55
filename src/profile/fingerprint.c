/*
 * The header has the algorithm.  Texts are hashed first, each once: a name
 * is part of many functions, and a function of many locations.
 */
#include "profile/fingerprint.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum {
    START_TEXT = 1,
    START_FUNCTION,
    START_LOCATION,
    START_STACK,
    START_LABELS
};

static_assert(START_STACK == FINGERPRINT_EMPTY_STACK, "the header has it, too");

uint64_t fingerprint_step(uint64_t h, uint64_t word)
{
    uint64_t z = (h ^ word) + 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t fingerprint_text(struct str text)
{
    uint64_t h = fingerprint_step(START_TEXT, text.n), word;

    for (size_t i = 0; i < text.n; i += sizeof(word)) {
        size_t n = text.n - i < sizeof(word) ? text.n - i : sizeof(word);

        word = 0;
        memcpy(&word, text.s + i, n);
        h = fingerprint_step(h, le64toh(word));
    }
    return h;
}

static uint64_t of_function(const struct fingerprints *f,
                            const struct function *fn)
{
    uint64_t h = START_FUNCTION;

    h = fingerprint_step(h, f->texts[fn->name]);
    h = fingerprint_step(h, f->texts[fn->system_name]);
    h = fingerprint_step(h, f->texts[fn->filename]);
    return fingerprint_step(h, (uint64_t)fn->start_line);
}

/* Steps with the binary that a location is in, and where in it. */
static uint64_t add_place(const struct fingerprints *f, uint64_t h,
                          const struct location *l)
{
    const struct mapping *m =
        l->mapping == NO_INDEX ? NULL : &f->profile->mappings.v[l->mapping];
    uint64_t kind = !m ? 0 : m->build_id ? 1 : m->file ? 2 : 0;
    uint64_t address = l->address;

    if (kind && address)
        address = address - m->start + m->offset;
    h = fingerprint_step(h, kind);
    h = fingerprint_step(h, kind == 1   ? f->texts[m->build_id]
                            : kind == 2 ? f->texts[m->file]
                                        : 0);
    return fingerprint_step(h, address);
}

static uint64_t of_location(const struct fingerprints *f,
                            const struct location *l)
{
    const struct line *lines = f->profile->lines.v + l->line_start;
    uint64_t h = add_place(f, START_LOCATION, l);

    h = fingerprint_step(h, l->is_folded);
    h = fingerprint_step(h, l->n_lines);
    for (uint32_t i = 0; i < l->n_lines; i++) {
        uint32_t function = lines[i].function;

        h = fingerprint_step(h,
                             function == NO_INDEX ? 0 : f->functions[function]);
        h = fingerprint_step(h, (uint64_t)lines[i].line);
        h = fingerprint_step(h, (uint64_t)lines[i].column);
    }
    return h;
}

void fingerprints_make(struct fingerprints *f, struct arena *a,
                       const struct profile *p)
{
    *f = (struct fingerprints){
        .profile = p,
        .texts = arena_new_array(a, uint64_t, p->strings.n),
        .functions = arena_new_array(a, uint64_t, p->functions.n),
        .locations = arena_new_array(a, uint64_t, p->locations.n),
    };
    for (size_t i = 0; i < p->strings.n; i++)
        f->texts[i] = fingerprint_text(p->strings.v[i]);
    for (size_t i = 0; i < p->functions.n; i++)
        f->functions[i] = of_function(f, &p->functions.v[i]);
    for (size_t i = 0; i < p->locations.n; i++)
        f->locations[i] = of_location(f, &p->locations.v[i]);
}

uint64_t fingerprint_stack(const struct fingerprints *f, size_t sample)
{
    const struct profile *p = f->profile;
    uint64_t h = START_STACK;

    assert(sample < p->n_samples);
    for (size_t i = p->loc_start[sample + 1]; i-- > p->loc_start[sample];)
        h = fingerprint_call(h, f->locations[p->stack[i]]);
    return h;
}

uint64_t fingerprint_labels(const struct fingerprints *f, size_t sample)
{
    const struct profile *p = f->profile;
    uint64_t h = START_LABELS;

    assert(sample < p->n_samples);
    for (size_t i = p->label_start[sample]; i < p->label_start[sample + 1];
         i++) {
        const struct label *l = &p->labels[i];

        h = fingerprint_step(h, (uint64_t)l->kind);
        h = fingerprint_step(h, f->texts[l->key]);
        h = fingerprint_step(h, f->texts[l->str]);
        h = fingerprint_step(h, (uint64_t)l->num);
    }
    return h;
}
