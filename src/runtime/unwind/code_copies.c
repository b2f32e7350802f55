#include "runtime/unwind/code_copies.h"

#include "elf/maps.h"
#include "runtime/unwind/modules.h"

static const struct module *module_of_file(const struct modules *m,
                                           struct str path)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].is_loaded && str_eq(str_from(m->v[i].path), path))
            return &m->v[i];
    return NULL;
}

static bool is_known(const struct code_copies *c, const struct maps_entry *e)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].start == e->start && c->v[i].limit == e->limit)
            return true;
    return false;
}

static void take(struct code_copies *c, const struct modules *m,
                 const struct maps_entry *e)
{
    const struct module *mod;
    uint64_t origin;

    if (!e->executable || !e->inode || modules_find(m, e->start) ||
        is_known(c, e) || c->n == CODE_COPIES_MAX)
        return;
    mod = module_of_file(m, e->path);
    if (!mod)
        return;
    origin = mod->start - mod->offset + e->offset;
    if (origin < mod->start || origin >= mod->limit)
        return;
    c->v[c->n++] = (struct code_copy){e->start, e->limit, origin - e->start};
}

void code_copies_take(struct code_copies *c, const struct modules *m,
                      const struct maps *maps)
{
    for (size_t i = 0; i < maps->entries.n; i++)
        take(c, m, maps_at(maps, i));
}

void code_copies_look(struct code_copies *c, const struct modules *m)
{
    struct maps maps;

    if (maps_read(&maps, "/proc/self/maps"))
        code_copies_take(c, m, &maps);
    maps_release(&maps);
}

uint64_t code_copies_origin(const struct code_copies *c, uint64_t address)
{
    for (size_t i = c->n; i > 0; i--)
        if (address - c->v[i - 1].start < c->v[i - 1].limit - c->v[i - 1].start)
            return address + c->v[i - 1].shift;
    return address;
}
