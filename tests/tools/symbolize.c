/*
 * symbolize FILE: reads addresses inside the file from stdin, one a line in
 * hex, and prints what src/symbol knows about them the way llvm-symbolizer
 * does: two lines a frame, innermost first, and an empty line after each
 * address.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/vec.h"
#include "symbol/object.h"

struct answers {
    struct arena *arena;
    struct str *texts; /* one an address, "" where there is none */
};

static void take(void *arg, size_t index, const struct symbol_frame *frames,
                 size_t n)
{
    struct answers *all = arg;
    struct buf text = BUF_INIT(BUF_NO_LIMIT);

    for (size_t i = 0; i < n; i++) {
        const struct symbol_frame *f = &frames[i];
        struct str unknown = STR("??");

        buf_addf(&text, "%" STR_FMT "\n%" STR_FMT ":%" PRId64 ":%" PRId64 "\n",
                 STR_ARG(f->function.n ? f->function : unknown),
                 STR_ARG(f->file.n ? f->file : unknown), f->line, f->column);
    }
    all->texts[index] = arena_str(all->arena, buf_str(&text));
    buf_release(&text);
}

int main(int argc, char **argv)
{
    struct answers all = {.arena = arena_new()};
    VEC(uint64_t) addresses = {0};
    struct error err = {{0}};
    struct object *o;
    char line[64];

    if (argc != 2)
        return 2;
    while (fgets(line, sizeof(line), stdin))
        *vec_push(all.arena, &addresses) = strtoull(line, NULL, 16);
    all.texts = arena_new_array(all.arena, struct str, addresses.n);
    o = object_open(argv[1], (struct object_mapping){.limit = UINT64_MAX},
                    &err);
    if (!o ||
        !object_resolve(o, addresses.v, addresses.n, false, take, &all, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < addresses.n; i++) {
        struct str text = all.texts[i].n ? all.texts[i] : STR("??\n??:0:0\n");

        printf("%" STR_FMT "\n", STR_ARG(text));
    }
    object_free(o);
    arena_free(all.arena);
    return 0;
}
