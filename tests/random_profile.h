#ifndef TESTS_RANDOM_PROFILE_H
#define TESTS_RANDOM_PROFILE_H

/*
 * Small random profiles in which much is equal or nearly so: few names,
 * addresses, lines and labels, so that merging has something to find.  All
 * have the same types.  Mappings of one profile differ, and the first is used
 * by the first sample, as in real life; otherwise it matters to which profile
 * an unused first mapping comes first, and merging is not associative.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profile/profile.h"

/* From the environment, or the clock; printed, so that a failure can be
 * repeated with TEST_SEED=. */
static inline uint64_t random_seed(void)
{
    const char *given = getenv("TEST_SEED");
    struct timespec now;
    uint64_t seed;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = given ? strtoull(given, NULL, 10)
                 : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    printf("# TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* A number below n. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % n);
}

static inline string_id random_word(struct profile *p, uint64_t *state,
                                    const char *prefix, uint32_t n)
{
    char text[32];
    uint32_t number = random_below(state, n);

    if (number == 0)
        return 0;
    snprintf(text, sizeof(text), "%s%u", prefix, number);
    return profile_intern(p, str_from(text));
}

static inline void random_tables(struct profile *p, uint64_t *state)
{
    uint32_t mappings = random_below(state, 4);
    uint32_t functions = 1 + random_below(state, 12);
    uint32_t locations = 1 + random_below(state, 30);

    for (uint32_t i = 0; i < mappings; i++) {
        uint64_t start = (1 + random_below(state, 3)) * 0x10000u;

        *vec_push(p->arena, &p->mappings) = (struct mapping){
            .id = i + 1,
            .start = start,
            .limit = start + 0x1000 * random_below(state, 3) + 5,
            .offset = i,
            .file = random_word(p, state, "/bin/", 3),
            .build_id = random_word(p, state, "id", 3),
            .has_functions = random_below(state, 2),
        };
    }
    for (uint32_t i = 0; i < functions; i++)
        *vec_push(p->arena, &p->functions) = (struct function){
            .id = 10 * i + 3,
            .name = random_word(p, state, "f", 5),
            .system_name = random_word(p, state, "_f", 2),
            .filename = random_word(p, state, "file", 3),
            .start_line = random_below(state, 2),
        };
    for (uint32_t i = 0; i < locations; i++) {
        struct location l = {
            .id = 7 * i + 1,
            .mapping = NO_INDEX,
            .line_start = (uint32_t)p->lines.n,
            .n_lines = random_below(state, 4),
            .is_folded = random_below(state, 8) == 0,
        };

        l.address = random_below(state, 3);
        if (mappings && (i == 0 || random_below(state, 3))) {
            l.mapping = i == 0 ? 0 : random_below(state, mappings);
            l.address += p->mappings.v[l.mapping].start;
        }
        *vec_push(p->arena, &p->locations) = l;
        for (uint32_t n = 0; n < l.n_lines; n++)
            *vec_push(p->arena, &p->lines) = (struct line){
                .function = random_below(state, functions),
                .line = random_below(state, 3),
                .column = random_below(state, 2),
            };
    }
}

static inline void random_labels(struct sample_builder *b, uint64_t *state)
{
    struct profile *p = b->profile;
    size_t start = b->labels_n;
    uint32_t n = random_below(state, 2) ? 0 : random_below(state, 5);

    for (uint32_t i = 0; i < n; i++) {
        struct label label = {
            .key = random_word(p, state, "key", 3),
            .kind = random_below(state, 2) ? LABEL_STRING : LABEL_NUMBER,
        };

        if (label.kind == LABEL_STRING) {
            label.str = random_word(p, state, "value", 3);
            if (label.str == 0)
                label.str = profile_intern(p, STR("value"));
        } else {
            label.num = 1 + random_below(state, 2);
            label.str = random_word(p, state, "unit", 3);
            if (label.str)
                label.kind = LABEL_MEASURE;
        }
        sample_builder_label(b, label);
    }
    if (n)
        profile_sort_labels(p, p->labels + start, n);
}

/* Values are from `least` to 5. */
static inline struct profile *random_profile(uint64_t *state, int least)
{
    struct profile *p = profile_new();
    uint32_t samples = 1 + random_below(state, 60);
    uint32_t range = (uint32_t)(6 - least);
    struct sample_builder b;

    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("samples")), profile_intern(p, STR("count"))};
    *vec_push(p->arena, &p->types) = (struct value_type){
        profile_intern(p, STR("cpu")), profile_intern(p, STR("ns"))};
    p->period_type = p->types.v[1];
    p->period = 1 + random_below(state, 100);
    p->time_ns = 1 + random_below(state, 1000);
    p->duration_ns = random_below(state, 1000);
    p->default_type = random_word(p, state, "type", 3);
    p->doc_url = random_word(p, state, "http://", 2);
    *vec_push(p->arena, &p->comments) = random_word(p, state, "note", 3);
    random_tables(p, state);
    sample_builder_init(&b, p);
    for (uint32_t i = 0; i < samples; i++) {
        int64_t values[2];
        uint32_t depth = random_below(state, 5);

        if (i == 0)
            sample_builder_frame(&b, 0);
        for (uint32_t f = 0; f < depth; f++)
            sample_builder_frame(&b,
                                 random_below(state, (uint32_t)p->locations.n));
        random_labels(&b, state);
        for (int t = 0; t < 2; t++)
            values[t] = least + (int64_t)random_below(state, range);
        sample_builder_end(&b, values);
    }
    return p;
}

#endif
