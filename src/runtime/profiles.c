/*
 * The table of all kinds of profiles.  It knows the room of each kind, so it
 * stands above them.
 */
#include "runtime/profiles.h"

#include <string.h>

#include "base/pages.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/heap_profile.h"
#include "runtime/heap/leak.h"
#include "runtime/lock/lock_profile.h"
#include "runtime/state.h"
#include "runtime/write/custom.h"
#include "runtime/write/function_names.h"

/* A snapshot's own table: most programs have far fewer different stacks. */
#define SNAPSHOT_SLOTS (1u << 15)
#define SNAPSHOT_BYTES (34u << 20)

static bool begin(struct snapshot *s, const char *name, struct error *err)
{
    return snapshot_begin(s, name, SNAPSHOT_SLOTS, SNAPSHOT_BYTES, err);
}

static bool take_threads_as(struct snapshot *s, const char *name,
                            struct error *err)
{
    if (!begin(s, name, err))
        return false;
    s->spec.has_label_tags = true;
    if (!threads_dump(&s->threads, err))
        return false;
    return threads_aggregate(&s->threads, false, &s->table) ||
           error_set(err, "too many different stacks");
}

static bool take_threads(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return take_threads_as(s, "threads", err);
}

static bool take_goroutine(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return take_threads_as(s, "goroutine", err);
}

static bool take_created(struct snapshot *s, bool details, struct error *err)
{
    (void)details;
    return begin(s, "threadcreate", err) && runtime_ready(err) &&
           (threads_copy_created(&s->table) ||
            error_set(err, "too many different stacks"));
}

static uint64_t count_threads(void)
{
    return threads_count();
}

static const char *creation_off(void)
{
    return threads_watches_creation()
               ? NULL
               : "needs the hooks: preload libpprof-preload.so or link "
                 "libpprof-hooks";
}

static const struct profile_kind kinds[] = {
    {.name = "allocs",
     .description = "Sampled memory allocations since the start",
     .take = heap_take_allocs,
     .count = heap_count_sites,
     .can_delta = true,
     .write_text = heap_write_text,
     .switched_off = heap_switched_off},
    {.name = "block",
     .description = "Stacks that waited for locks and other threads",
     .take = lock_take_block,
     .count = lock_count_block,
     .can_delta = true,
     .write_text = lock_write_text,
     .switched_off = lock_block_off},
    {.name = "goroutine",
     .description =
         "Stacks of all current threads (under the name that tools for Go use)",
     .take = take_goroutine,
     .count = count_threads,
     .can_delta = true,
     .has_dump = true},
    {.name = "heap",
     .description = "Sampled memory that is allocated and not freed; gc=1 is "
                    "accepted and changes nothing",
     .take = heap_take,
     .count = heap_count_sites,
     .can_delta = true,
     .write_text = heap_write_text,
     .switched_off = heap_switched_off},
    {.name = "leak",
     .description =
         "Sampled memory that is older than the age parameter (60s by default) "
         "and that nothing points to. Each request scans all memory",
     .take = leak_take,
     .count = leak_count,
     .write_text = leak_write_text,
     .switched_off = heap_switched_off},
    {.name = "mutex",
     .description = "Stacks that released a lock for which others waited",
     .take = lock_take_mutex,
     .count = lock_count_mutex,
     .can_delta = true,
     .write_text = lock_write_text,
     .switched_off = lock_mutex_off},
    {.name = "peak",
     .description = "Sampled memory that was in use at the peak",
     .take = heap_take_peak,
     .count = heap_count_sites,
     .write_text = leak_write_text,
     .switched_off = heap_switched_off},
    {.name = "threadcreate",
     .description = "Stacks that led to the creation of threads",
     .take = take_created,
     .count = threads_n_created,
     .can_delta = true,
     .switched_off = creation_off},
    {.name = "threads",
     .description = "Stacks of all current threads; debug=2 for names and "
                    "states",
     .take = take_threads,
     .count = count_threads,
     .can_delta = true,
     .has_dump = true},
    {.name = NULL},
};

const struct profile_kind *profiles_all(void)
{
    return kinds;
}

static const struct profile_kind *find_kind(struct str name)
{
    for (const struct profile_kind *k = kinds; k->name; k++)
        if (str_eq(str_from(k->name), name))
            return k;
    return NULL;
}

const struct profile_kind *profiles_find(struct str name)
{
    const struct profile_kind *kind = find_kind(name);

    return kind ? kind : custom_find(name);
}

bool profiles_is_reserved(struct str name)
{
    static const char *const words[] = {"cmdline", "profile", "symbol", "trace",
                                        "wall"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_eq(str_from(words[i]), name))
            return true;
    return find_kind(name) != NULL;
}

uint64_t profiles_count(const struct profile_kind *kind)
{
    return kind->custom ? custom_count(kind->custom) : kind->count();
}

static bool take(const struct profile_kind *kind, struct snapshot *out,
                 bool details, struct error *err)
{
    if (kind->custom ? custom_take(kind->custom, out, err)
                     : kind->take(out, details, err))
        return true;
    snapshot_release(out);
    return false;
}

bool snapshot_take(const struct profile_kind *kind, struct snapshot *out,
                   struct error *err)
{
    return take(kind, out, false, err);
}

bool profiles_write(const struct profile_kind *kind, int debug, struct buf *out,
                    struct error *err)
{
    bool dump = debug >= 2 && kind->has_dump;
    struct snapshot s;
    bool ok;

    if (!take(kind, &s, dump, err))
        return false;
    if (dump)
        ok = threads_write_text(&s.threads, out, err);
    else if (debug >= 1 && kind->write_text)
        ok = kind->write_text(&s, out, err);
    else if (debug >= 1)
        ok = profile_write_text(&s.spec, &s.table, out, err);
    else
        ok = profile_write(&s.spec, &s.table, out, err);
    snapshot_release(&s);
    return ok;
}

struct symbol_request {
    struct names names;
};

bool profiles_symbol_begin(struct symbol_request **out)
{
    struct symbol_request *r = pages_alloc(sizeof(*r));
    struct error err;

    if (!r || !runtime_ready(&err)) {
        pages_free(r, sizeof(*r));
        return false;
    }
    runtime_lock();
    modules_refresh(&runtime.modules);
    names_init(&r->names, &runtime.modules);
    *out = r;
    return true;
}

bool profiles_symbol(struct symbol_request *r, uint64_t address,
                     struct buf *out)
{
    struct name name;

    if (!names_find(&r->names, address, &name))
        return false;
    names_pretty(&r->names, name.mangled, out);
    return true;
}

void profiles_symbol_end(struct symbol_request *r)
{
    names_release(&r->names);
    runtime_unlock();
    pages_free(r, sizeof(*r));
}
