/*
 * A profile's lock is held for a few instructions and a hash look-up only: the
 * stack is walked before it is taken.  Profiles are published by a counter and
 * never freed, so that readers need no lock to find one.
 */
#include "runtime/write/custom.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/pages.h"
#include "pprof/pprof.h"
#include "runtime/cpu/sigprof.h"
#include "runtime/state.h"
#include "runtime/unwind/table_builder.h"

#define TABLE_SLOTS   (1u << 14)
#define TABLE_BYTES   (4u << 20)
#define FIRST_ENTRIES 256

struct entry {
    uint64_t key;
    int64_t value;
    struct stack_record *record; /* NULL: free */
};

struct pprof_profile {
    char name[CUSTOM_MAX_NAME + 1];
    struct profile_kind kind;
    pthread_mutex_t lock;  /* guards what follows */
    struct entry *entries; /* open addressing, cap is a power of two */
    uint32_t cap;
    uint32_t n;
    struct stack_table stacks; /* value 0: what its things count for */
};

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pprof_profile *_Atomic profiles[CUSTOM_MAX];
static _Atomic size_t n_profiles;

const struct profile_kind *custom_at(size_t i)
{
    return i < atomic_load(&n_profiles) ? &atomic_load(&profiles[i])->kind
                                        : NULL;
}

const struct profile_kind *custom_find(struct str name)
{
    const struct profile_kind *kind;

    for (size_t i = 0; (kind = custom_at(i)) != NULL; i++)
        if (str_eq(str_from(kind->name), name))
            return kind;
    return NULL;
}

/* --- making one ------------------------------------------------------------
 */

/* A name goes into URLs and into the first line of a text, up to a space. */
static bool is_good_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] > '~' || strchr("?#%\"<>\\", name[i]))
            return false;
    return n > 0 && n <= CUSTOM_MAX_NAME && name[0] != '/';
}

static struct pprof_profile *make(const char *name)
{
    struct pprof_profile *p = pages_alloc(sizeof(*p));

    if (!p)
        return NULL;
    p->entries = pages_alloc(FIRST_ENTRIES * sizeof(*p->entries));
    if (!p->entries ||
        !stack_table_init(&p->stacks, TABLE_SLOTS, TABLE_BYTES)) {
        pages_free(p->entries, FIRST_ENTRIES * sizeof(*p->entries));
        pages_free(p, sizeof(*p));
        return NULL;
    }
    p->cap = FIRST_ENTRIES;
    pthread_mutex_init(&p->lock, NULL);
    snprintf(p->name, sizeof(p->name), "%s", name);
    p->kind = (struct profile_kind){
        .name = p->name,
        .description = "What the program keeps under this name, by the stacks "
                       "that added it",
        .custom = p};
    return p;
}

static struct pprof_profile *make_new(const char *name, int *code,
                                      struct error *err)
{
    struct pprof_profile *p;
    size_t n = atomic_load(&n_profiles);

    if (custom_find(str_from(name))) {
        *code = EEXIST;
        error_set(err, "a profile \"%s\" already exists", name);
        return NULL;
    }
    p = n < CUSTOM_MAX ? make(name) : NULL;
    if (!p) {
        *code = n < CUSTOM_MAX ? ENOMEM : ENOSPC;
        error_set(err, n < CUSTOM_MAX ? "out of memory" : "too many profiles");
        return NULL;
    }
    atomic_store(&profiles[n], p);
    atomic_store(&n_profiles, n + 1);
    return p;
}

struct pprof_profile *custom_new(const char *name, int *code, struct error *err)
{
    struct pprof_profile *p = NULL;

    *code = ENOMEM;
    if (!is_good_name(name)) {
        *code = EINVAL;
        error_set(err, "a profile's name has 1 to %d visible characters",
                  CUSTOM_MAX_NAME);
    } else if (runtime_ready(err)) {
        table_builder_refresh();
        pthread_mutex_lock(&names_lock);
        p = make_new(name, code, err);
        pthread_mutex_unlock(&names_lock);
    }
    return p;
}

/* --- the index of keys ------------------------------------------------------
 */

static uint32_t home_of(const struct pprof_profile *p, uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(key >> 32) & (p->cap - 1);
}

/* The entry of a key, or the free one where it belongs. */
static struct entry *find(const struct pprof_profile *p, uint64_t key)
{
    uint32_t i = home_of(p, key);

    while (p->entries[i].record && p->entries[i].key != key)
        i = (i + 1) & (p->cap - 1);
    return &p->entries[i];
}

static bool grow(struct pprof_profile *p)
{
    struct pprof_profile bigger = {.cap = p->cap * 2};

    bigger.entries = pages_alloc(bigger.cap * sizeof(*bigger.entries));
    if (!bigger.entries)
        return false;
    for (uint32_t i = 0; i < p->cap; i++)
        if (p->entries[i].record)
            *find(&bigger, p->entries[i].key) = p->entries[i];
    pages_free(p->entries, p->cap * sizeof(*p->entries));
    p->entries = bigger.entries;
    p->cap = bigger.cap;
    return true;
}

/* Closes the gap: what would have been put here if it had been free moves
 * in, and so on, so that no search meets a hole. */
static void erase(struct pprof_profile *p, struct entry *e)
{
    uint32_t mask = p->cap - 1, hole = (uint32_t)(e - p->entries), i = hole;

    for (;;) {
        i = (i + 1) & mask;
        if (!p->entries[i].record)
            break;
        if (((i - home_of(p, p->entries[i].key)) & mask) >=
            ((i - hole) & mask)) {
            p->entries[hole] = p->entries[i];
            hole = i;
        }
    }
    p->entries[hole] = (struct entry){0};
    p->n--;
}

/* --- adding and removing ----------------------------------------------------
 */

static int add(struct pprof_profile *p, struct entry new, struct error *err)
{
    struct entry *e = find(p, new.key);

    if (e->record) {
        error_set(err, "%s: the key already exists", p->name);
        return EEXIST;
    }
    if (!new.record || p->n >= CUSTOM_MAX_ENTRIES ||
        (p->n * 4 >= p->cap * 3 && !grow(p))) {
        error_set(err, "%s: no room for more", p->name);
        return ENOSPC;
    }
    *find(p, new.key) = new;
    p->n++;
    stack_record_count(new.record, 0, new.value);
    return 0;
}

int custom_add(struct pprof_profile *p, const void *key, int64_t value,
               void *caller, struct error *err)
{
    uint64_t pcs[UNWIND_MAX_FRAMES + 1];
    enum unwind_end end;
    struct entry new = {(uint64_t)(uintptr_t)key, value, NULL};
    size_t n;
    int code;

    n = sigprof_stack_from(caller, pcs, UNWIND_MAX_FRAMES, &end);
    if (end == UNWIND_TRUNCATED)
        pcs[n++] = FRAME_TRUNCATED;
    new.record = stack_table_add(&p->stacks, pcs, n, 0);
    pthread_mutex_lock(&p->lock);
    code = add(p, new, err);
    pthread_mutex_unlock(&p->lock);
    return code;
}

bool custom_remove(struct pprof_profile *p, const void *key)
{
    struct entry *e;
    bool found;

    pthread_mutex_lock(&p->lock);
    e = find(p, (uint64_t)(uintptr_t)key);
    found = e->record != NULL;
    if (found) {
        stack_record_count(e->record, 0, -e->value);
        erase(p, e);
    }
    pthread_mutex_unlock(&p->lock);
    return found;
}

uint64_t custom_count(const struct pprof_profile *p)
{
    /* One word; a count that is old in the next moment anyway. */
    return __atomic_load_n(&p->n, __ATOMIC_RELAXED);
}

bool custom_take(const struct pprof_profile *p, struct snapshot *s,
                 struct error *err)
{
    const struct stack_record *r;
    uint32_t at = 0;

    if (!snapshot_begin(s, p->name, TABLE_SLOTS, TABLE_BYTES + (1u << 20), err))
        return false;
    while ((r = stack_table_next(&p->stacks, &at)) != NULL) {
        struct stack_record *to = stack_table_add(&s->table, r->pcs, r->n, 0);

        if (!to)
            return error_set(err, "too many different stacks");
        stack_record_count(to, 0, atomic_load(&r->values[0]));
    }
    return true;
}

static void empty(struct pprof_profile *p)
{
    struct entry *fresh = pages_alloc(FIRST_ENTRIES * sizeof(*fresh));

    /* Without memory the old array is cleared as it is. */
    if (fresh) {
        p->entries = fresh;
        p->cap = FIRST_ENTRIES;
    } else {
        memset(p->entries, 0, p->cap * sizeof(*p->entries));
    }
    p->n = 0;
    stack_table_clear(&p->stacks);
}

void custom_after_fork(void)
{
    static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

    names_lock = unlocked;
    for (size_t i = 0; i < atomic_load(&n_profiles); i++) {
        struct pprof_profile *p = profiles[i];

        if (pthread_mutex_trylock(&p->lock) != 0)
            empty(p);
        p->lock = unlocked;
    }
}
