#include "profile/named_stack.h"

void named_stack_init(struct named_stack *s, struct profile *p,
                      const struct profile_limits *limits)
{
    *s = (struct named_stack){.profile = p, .limits = limits};
    sample_builder_init(&s->samples, p);
    map_init(&s->functions, p->arena, 0);
    map_init(&s->locations, p->arena, 0);
    map_init(&s->mappings, p->arena, 0);
}

static uint32_t find_mapping(struct named_stack *s, string_id file)
{
    struct profile *p = s->profile;
    struct map_cursor c = map_find(&s->mappings, map_mix(0, file));

    while (map_next(&s->mappings, &c))
        if (p->mappings.v[c.record].file == file)
            return c.record;
    map_add(&s->mappings, &c, (uint32_t)p->mappings.n);
    *vec_push(p->arena, &p->mappings) = (struct mapping){
        .id = p->mappings.n + 1, .file = file, .has_functions = true};
    return (uint32_t)(p->mappings.n - 1);
}

static uint32_t find_function(struct named_stack *s, string_id name)
{
    struct profile *p = s->profile;
    struct map_cursor c = map_find(&s->functions, map_mix(0, name));

    while (map_next(&s->functions, &c))
        if (p->functions.v[c.record].name == name)
            return c.record;
    map_add(&s->functions, &c, (uint32_t)p->functions.n);
    *vec_push(p->arena, &p->functions) = (struct function){
        .id = p->functions.n + 1, .name = name, .system_name = name};
    return (uint32_t)(p->functions.n - 1);
}

static uint32_t find_location(struct named_stack *s, uint32_t function,
                              uint32_t mapping, uint64_t address)
{
    struct profile *p = s->profile;
    uint64_t hash = map_mix(map_mix(map_mix(0, function), mapping), address);
    struct map_cursor c = map_find(&s->locations, hash);

    while (map_next(&s->locations, &c)) {
        const struct location *l = &p->locations.v[c.record];

        if (l->mapping == mapping && l->address == address &&
            p->lines.v[l->line_start].function == function)
            return c.record;
    }
    map_add(&s->locations, &c, (uint32_t)p->locations.n);
    *vec_push(p->arena, &p->locations) =
        (struct location){.id = p->locations.n + 1,
                          .address = address,
                          .mapping = mapping,
                          .line_start = (uint32_t)p->lines.n,
                          .n_lines = 1};
    *vec_push(p->arena, &p->lines) = (struct line){.function = function};
    return (uint32_t)(p->locations.n - 1);
}

bool named_stack_frame(struct named_stack *s, struct str function,
                       struct str module, uint64_t address, struct error *err)
{
    uint32_t mapping, f;

    if (++s->depth > s->limits->stack_depth)
        return error_set(err, "a stack of more than %zu frames",
                         s->limits->stack_depth);
    s->string_bytes += function.n + module.n;
    if (s->string_bytes > s->limits->string_bytes)
        return error_set(err, "more than %zu bytes of names",
                         s->limits->string_bytes);
    mapping = find_mapping(s, profile_intern(s->profile, module));
    f = find_function(s, profile_intern(s->profile, function));
    sample_builder_frame(&s->samples, find_location(s, f, mapping, address));
    return true;
}

void named_stack_label(struct named_stack *s, struct str key, struct str text)
{
    struct profile *p = s->profile;

    *vec_push(p->arena, &s->labels) =
        (struct label){.key = profile_intern(p, key),
                       .str = profile_intern(p, text),
                       .kind = LABEL_STRING};
}

void named_stack_number(struct named_stack *s, struct str key, int64_t number)
{
    struct profile *p = s->profile;

    *vec_push(p->arena, &s->labels) = (struct label){
        .key = profile_intern(p, key), .num = number, .kind = LABEL_NUMBER};
}

bool named_stack_end(struct named_stack *s, const int64_t *values,
                     struct error *err)
{
    if (s->profile->n_samples >= s->limits->samples)
        return error_set(err, "more than %zu samples", s->limits->samples);
    profile_sort_labels(s->profile, s->labels.v, s->labels.n);
    for (size_t i = 0; i < s->labels.n; i++)
        sample_builder_label(&s->samples, s->labels.v[i]);
    s->labels.n = s->depth = 0;
    sample_builder_end(&s->samples, values);
    return true;
}
