#include "runtime/write/function_names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elf/jit_name.h"
#include "elf/maps.h"
#include "runtime/state.h"
#include "runtime/unwind/stack_table.h"

void names_init(struct names *n, const struct modules *modules)
{
    *n = (struct names){.modules = modules,
                        .loaded = {.size = sizeof(struct name_module)}};
    jit_map_init(&n->jit);
    *(void **)&n->demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
}

void names_release(struct names *n)
{
    struct name_module *v = n->loaded.p;

    for (size_t i = 0; i < n->loaded.n; i++)
        if (v[i].has_symbols)
            elf_symbols_release(&v[i].symbols);
    pages_vec_release(&n->loaded);
    jit_map_release(&n->jit);
}

static struct name_module *load(struct names *n, const struct module *module)
{
    struct name_module *v = n->loaded.p;

    for (size_t i = 0; i < n->loaded.n; i++)
        if (v[i].module == module)
            return &v[i];
    v = pages_vec_push(&n->loaded, 1);
    if (!v)
        return NULL;
    v->module = module;
    v->has_symbols = module_symbols(module, &v->symbols);
    return v;
}

/* A runtime that writes a dump has it mapped, so that perf finds it. */
static void read_jit(struct jit_map *jit)
{
    uint32_t pid = (uint32_t)getpid();
    char path[512] = "";
    struct maps maps;

    if (maps_read(&maps, "/proc/self/maps")) {
        for (size_t i = 0; i < maps.entries.n; i++) {
            struct str p = maps_at(&maps, i)->path;

            if (jit_is_dump_path(p, pid) && p.n < sizeof(path))
                snprintf(path, sizeof(path), "%" STR_FMT, STR_ARG(p));
        }
    }
    maps_release(&maps);
    jit_map_read(jit, JIT_DIRECTORY, pid, path[0] ? path : NULL);
    jit_map_finish(jit);
}

static bool find_jit(struct names *n, uint64_t address, struct name *out)
{
    struct jit_code code;

    if (!n->has_jit)
        read_jit(&n->jit);
    n->has_jit = true;
    if (!jit_map_find(&n->jit, address, &code))
        return false;
    out->mangled = code.name;
    out->start = code.start;
    return true;
}

bool names_find(struct names *n, uint64_t at, struct name *out)
{
    uint64_t address = code_copies_origin(&runtime.copies, at);
    const struct module *module = modules_find(n->modules, address);
    struct name_module *loaded = module ? load(n, module) : NULL;
    const struct elf_symbol *symbol = NULL;

    *out = (struct name){.module = module};
    if (!module)
        return find_jit(n, at, out);
    if (loaded && loaded->has_symbols)
        symbol = elf_symbols_find(&loaded->symbols, address - module->bias);
    if (!symbol)
        return false;
    out->mangled = elf_symbol_name(&loaded->symbols, symbol);
    out->start = symbol->vaddr + module->bias;
    return true;
}

void names_pretty(struct names *n, struct str mangled, struct buf *out)
{
    char *text = NULL;
    int status = -1;

    if (n->demangle && str_has_prefix(mangled, STR("_Z")))
        text = n->demangle(mangled.s, NULL, NULL, &status);
    buf_add(out, text && status == 0 ? str_from(text)
                                     : jit_name_parse(mangled).function);
    free(text);
}

const char *names_pseudo(uint64_t frame)
{
    switch (frame) {
    case FRAME_TRUNCATED:
        return "[truncated]";
    case FRAME_NO_STACK:
        return "[no stack]";
    case FRAME_NO_ROOM:
        return "[no room]";
    default:
        return NULL;
    }
}
