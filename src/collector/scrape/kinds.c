#include "collector/scrape/kinds.h"

#include "collector/profile_type.h"

#define S(text) STR_INIT(text)

const struct scrape_kind scrape_kinds[] = {
    {.name = S("cpu"),
     .type = S("cpu"),
     .path = S("profile"),
     .measures = true,
     .by_default = true},
    {.name = S("process_cpu"),
     .type = S("cpu"),
     .path = S("profile"),
     .measures = true},
    {.name = S("wall"), .type = S("wall"), .path = S("wall"), .measures = true},
    {.name = S("fgprof"),
     .type = S("fgprof"),
     .path = S("../fgprof"),
     .measures = true},
    {.name = S("trace"),
     .type = S("trace"),
     .path = S("trace"),
     .measures = true,
     .is_opaque = true},
    {.name = S("heap"),
     .type = S("heap"),
     .path = S("heap"),
     .by_default = true},
    {.name = S("memory"), .type = S("allocs"), .path = S("allocs")},
    {.name = S("mutex"),
     .type = S("mutex"),
     .path = S("mutex"),
     .by_default = true},
    {.name = S("block"),
     .type = S("block"),
     .path = S("block"),
     .by_default = true},
    {.name = S("goroutine"),
     .type = S("goroutine"),
     .path = S("goroutine"),
     .by_default = true},
    {.name = S("godeltaprof_memory"),
     .type = S("heap"),
     .path = S("delta_heap"),
     .is_delta = true,
     .by_default = true},
    {.name = S("godeltaprof_mutex"),
     .type = S("mutex"),
     .path = S("delta_mutex"),
     .is_delta = true,
     .by_default = true},
    {.name = S("godeltaprof_block"),
     .type = S("block"),
     .path = S("delta_block"),
     .is_delta = true,
     .by_default = true},
};

const size_t scrape_kinds_n = sizeof(scrape_kinds) / sizeof(scrape_kinds[0]);

bool scrape_kind_named(struct str name, struct scrape_kind *out)
{
    for (size_t i = 0; i < scrape_kinds_n; i++)
        if (str_eq(scrape_kinds[i].name, name)) {
            *out = scrape_kinds[i];
            return true;
        }
    *out = (struct scrape_kind){.name = name, .type = name, .path = name};
    return profile_type_is_valid(name);
}

bool scrape_kind_of_parca(struct str name, struct str path,
                          struct scrape_kind *out)
{
    if (!scrape_kind_named(name, out))
        return false;
    if (str_eq(name, STR("memory")) && str_has_suffix(path, STR("/heap")))
        out->type = out->path = STR("heap");
    return true;
}
