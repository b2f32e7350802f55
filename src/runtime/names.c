#include "runtime/names.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/stacktable.h"

void names_init(struct names *n, const struct modules *modules)
{
    *n = (struct names){.modules = modules,
                        .loaded = {.size = sizeof(struct name_module)}};
    *(void **)&n->demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
}

void names_release(struct names *n)
{
    struct name_module *v = n->loaded.p;

    for (size_t i = 0; i < n->loaded.n; i++)
        if (v[i].has_symbols)
            elf_symbols_release(&v[i].symbols);
    pages_vec_release(&n->loaded);
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

bool names_find(struct names *n, uint64_t address, struct name *out)
{
    const struct module *module = modules_find(n->modules, address);
    struct name_module *loaded = module ? load(n, module) : NULL;
    const struct elf_symbol *symbol;

    *out = (struct name){.module = module};
    if (!loaded || !loaded->has_symbols)
        return false;
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
    buf_add(out, text && status == 0 ? str_from(text) : mangled);
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
