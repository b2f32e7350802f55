#include "symbol/objects.h"

#include "symbol/objdump.h"

struct local {
    struct arena *arena;
    struct str tools;
    bool looked_for_objdump, is_llvm;
    const char *objdump;
};

static struct object *open_local(void *arg, const char *path,
                                 struct object_mapping mapping,
                                 struct error *err)
{
    (void)arg;
    return object_open(path, mapping, err);
}

static void close_local(void *arg, struct object *o)
{
    (void)arg;
    object_free(o);
}

static bool file_address(void *arg, struct object *o, uint64_t address,
                         uint64_t *out, struct error *err)
{
    (void)arg;
    return object_file_address(o, address, out, err);
}

static bool symbols(void *arg, struct object *o, struct arena *a,
                    struct symbol_groups *out, struct error *err)
{
    size_t n;
    const struct object_symbol *all = object_symbols(o, &n);
    struct str *names = arena_new_array(a, struct str, n);

    (void)arg, (void)err;
    for (size_t i = 0; i < n;) {
        size_t end = i;

        for (; end < n && all[end].address == all[i].address; end++)
            names[end] = all[end].name;
        *vec_push(a, &out->list) = (struct symbol_group){
            .start = all[i].address,
            .end = end < n ? all[end].address - 1 : UINT64_MAX,
            .names = names + i,
            .n_names = end - i,
        };
        i = end;
    }
    return true;
}

static bool disassemble(void *arg, struct object *o, struct arena *a,
                        uint64_t start, uint64_t end, bool intel_syntax,
                        struct instructions *out, struct error *err)
{
    struct local *l = arg;

    if (!l->looked_for_objdump)
        l->objdump = objdump_find(l->arena, l->tools, &l->is_llvm);
    l->looked_for_objdump = true;
    if (!l->objdump)
        return error_set(err, "cannot disasm: no objdump tool available");
    return objdump_run(l->objdump, l->is_llvm, object_path(o), a, start, end,
                       intel_syntax, out, err);
}

static bool resolve(void *arg, struct object *o, const uint64_t *addresses,
                    size_t n, symbol_found *found, void *found_arg,
                    struct error *err)
{
    (void)arg;
    return object_resolve(o, addresses, n, false, found, found_arg, err);
}

struct objects objects_local(struct arena *a, struct str tools)
{
    struct local *l = arena_alloc(a, sizeof(*l));

    l->arena = a;
    l->tools = tools;
    return (struct objects){
        .arg = l,
        .open = open_local,
        .close = close_local,
        .file_address = file_address,
        .symbols = symbols,
        .disassemble = disassemble,
        .resolve = resolve,
    };
}
