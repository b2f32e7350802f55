#ifndef TESTS_FAKE_OBJECTS_H
#define TESTS_FAKE_OBJECTS_H

/*
 * A binary that is none: three functions of 0x100 bytes from 0x1000 on, each
 * of sixteen instructions; an address is the same in the file.  Counts what
 * is asked of it.
 *
 *     struct fake_objects fake = {.broken = "read"};
 *     struct objects objects = fake_objects(&fake);
 */
#include <stdlib.h>

#include "symbol/objects.h"

struct fake_objects {
    const char *broken; /* a function that cannot be disassembled, or NULL */
    int opened, closed, disassembled;
};

static const struct str fake_names[] = {STR_INIT("main"), STR_INIT("read"),
                                        STR_INIT("write")};

static inline struct object *fake_open(void *arg, const char *path,
                                       struct object_mapping mapping,
                                       struct error *err)
{
    struct fake_objects *f = arg;

    (void)path, (void)mapping, (void)err;
    f->opened++;
    return malloc(1); /* each is another one, and leaks are seen */
}

static inline void fake_close(void *arg, struct object *o)
{
    struct fake_objects *f = arg;

    f->closed++;
    free(o);
}

static inline bool fake_file_address(void *arg, struct object *o,
                                     uint64_t address, uint64_t *out,
                                     struct error *err)
{
    (void)arg, (void)o, (void)err;
    *out = address;
    return true;
}

static inline bool fake_symbols(void *arg, struct object *o, struct arena *a,
                                struct symbol_groups *out, struct error *err)
{
    (void)arg, (void)o, (void)err;
    for (size_t i = 0; i < 3; i++)
        *vec_push(a, &out->list) =
            (struct symbol_group){.start = 0x1000 + i * 0x100,
                                  .end = 0x10ff + i * 0x100,
                                  .names = &fake_names[i],
                                  .n_names = 1};
    return true;
}

static inline bool fake_disassemble(void *arg, struct object *o,
                                    struct arena *a, uint64_t start,
                                    uint64_t end, bool intel_syntax,
                                    struct instructions *out, struct error *err)
{
    struct fake_objects *f = arg;

    (void)o, (void)intel_syntax;
    f->disassembled++;
    for (uint64_t at = start & ~0xfull; at < end && at < 0x1300; at += 0x10) {
        struct str name = fake_names[at < 0x1000 ? 0 : (at - 0x1000) / 0x100];

        if (f->broken && str_eq(name, str_from(f->broken)))
            return error_set(err, "no code of %s", f->broken);
        *vec_push(a, &out->list) = (struct instruction){
            .address = at,
            .text = str_from(arena_printf(a, "nop %#llx", (long long)at)),
            .function = name,
            .file = STR("f.c"),
            .line = 1 + (int64_t)(at & 0xff) / 0x10,
        };
    }
    return true;
}

static inline bool fake_resolve(void *arg, struct object *o,
                                const uint64_t *addresses, size_t n,
                                symbol_found *found, void *found_arg,
                                struct error *err)
{
    (void)arg, (void)o, (void)addresses, (void)n, (void)found, (void)found_arg;
    return error_set(err, "the disassembler's own lines serve");
}

static inline struct objects fake_objects(struct fake_objects *f)
{
    return (struct objects){
        .arg = f,
        .open = fake_open,
        .close = fake_close,
        .file_address = fake_file_address,
        .symbols = fake_symbols,
        .disassemble = fake_disassemble,
        .resolve = fake_resolve,
    };
}

#endif
