#include "runtime/own_code.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool own_is_shown(void)
{
    enum { NOT_READ, HIDDEN, SHOWN };
    static _Atomic int known;
    const char *text;

    if (atomic_load(&known) == NOT_READ) {
        text = getenv("PPROF_SELF");
        atomic_store(&known, text && strcmp(text, "1") == 0 ? SHOWN : HIDDEN);
    }
    return atomic_load(&known) == SHOWN;
}

/* The linker defines these for the sections of that name: of our wrappers,
 * and, in static libraries (one-object.sh), of the rest of our code. */
#define SECTION_EDGE                                                           \
    extern const char __attribute__((weak, visibility("hidden")))

SECTION_EDGE __start_pprof_text[], __stop_pprof_text[];
SECTION_EDGE __start_pprof_wrappers[], __stop_pprof_wrappers[];

struct range {
    uint64_t start, limit;
};

static struct range code, wrappers;

static struct range range_of(const char *start, const char *limit)
{
    return (struct range){(uint64_t)(uintptr_t)start,
                          (uint64_t)(uintptr_t)limit};
}

static bool is_in(struct range r, uint64_t pc)
{
    return pc >= r.start && pc < r.limit;
}

static bool is_own(uint64_t pc)
{
    return is_in(code, pc) || is_in(wrappers, pc);
}

bool own_code_has(uint64_t pc)
{
    return is_own(pc) && !own_is_shown();
}

void own_code_find(const struct modules *m)
{
    const struct module *mod =
        modules_find(m, (uint64_t)(uintptr_t)own_code_find);
    const char *slash = mod ? strrchr(mod->path, '/') : NULL;

    wrappers = range_of(__start_pprof_wrappers, __stop_pprof_wrappers);
    if (__start_pprof_text)
        code = range_of(__start_pprof_text, __stop_pprof_text);
    else if (slash && strncmp(slash + 1, "libpprof", 8) == 0)
        code = (struct range){mod->start, mod->limit};
}

bool own_code_hides(const uint64_t *pcs, size_t n, size_t i)
{
    size_t leading = 0;

    if (!own_code_has(pcs[i]))
        return false;
    while (leading < n && is_own(pcs[leading]))
        leading++;
    return i + 1 != leading || !is_in(wrappers, pcs[i]);
}
