/*
 * SIGNAL CONTEXT but for the first push of a process, which gets memory.
 *
 * A set is a record of a stack table: its tag is the set below, its words
 * are the lengths of key and value, then their bytes.  Its number is its
 * place in the table.
 */
#include "runtime/thread/thread_labels.h"

#include <string.h>

#include "base/pages.h"
#include "runtime/unwind/stack_table.h"

#define TABLE_SLOTS (1u << 18)
#define TABLE_BYTES (8u << 20)
#define WORDS_MAX   (1 + (LABEL_KEY_MAX + LABEL_VALUE_MAX + 7) / 8)

static struct stack_table *_Atomic made;
static _Atomic uint64_t lost;

static struct stack_table *make_sets(void)
{
    struct stack_table *t = pages_alloc(sizeof(*t));

    if (t && stack_table_init(t, TABLE_SLOTS, TABLE_BYTES))
        return t;
    pages_free(t, sizeof(*t));
    return NULL;
}

/* NULL: out of memory.  Threads that come at the same time make one each, and
 * the first one is used by all, and no thread waits. */
static struct stack_table *sets(void)
{
    struct stack_table *t = atomic_load_explicit(&made, memory_order_acquire);
    struct stack_table *first = NULL;

    if (t)
        return t;
    t = make_sets();
    if (!t || atomic_compare_exchange_strong(&made, &first, t))
        return t;
    stack_table_release(t);
    pages_free(t, sizeof(*t));
    return first;
}

bool labels_prepare(void)
{
    return sets() != NULL;
}

static struct str cut(struct str s, size_t max)
{
    if (s.n <= max)
        return s;
    while (max > 0 && (s.s[max] & 0xc0) == 0x80)
        max--; /* not in the middle of a character */
    return str_first(s, max);
}

static bool is_nearly_full(const struct stack_table *t)
{
    return atomic_load_explicit(&t->used, memory_order_relaxed) >
           t->cap / 16 * 15;
}

/* The number of a set, 0 when it is not there (and not to be made). */
static uint32_t find(struct stack_table *t, uint32_t set, struct str key,
                     struct str value, bool make)
{
    uint64_t words[WORDS_MAX] = {0};
    size_t n = 1 + (key.n + value.n + 7) / 8;
    struct stack_record *r;

    words[0] = key.n | (uint64_t)value.n << 32;
    memcpy(&words[1], key.s, key.n);
    memcpy((char *)&words[1] + key.n, value.s, value.n);
    r = make ? stack_table_add(t, words, n, set)
             : stack_table_find(t, words, n, set);
    return r ? (uint32_t)((uint64_t *)r - t->arena) : 0;
}

uint32_t labels_push(uint32_t set, struct str key, struct str value)
{
    struct stack_table *t = sets();
    uint32_t pushed = 0;

    if (t) {
        key = cut(key, LABEL_KEY_MAX);
        value = cut(value, LABEL_VALUE_MAX);
        pushed = find(t, set, key, value, !is_nearly_full(t));
        if (!pushed)
            pushed = find(t, set, key, STR("[other]"), true);
    }
    if (!pushed)
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return pushed ? pushed : set;
}

uint32_t labels_push_thread(uint32_t set, const char name[16])
{
    size_t n = 0;

    while (n < 15 && name[n])
        n++;
    return labels_push(set, STR("thread"), str_of(name, n));
}

/* The label that a record of the table of sets is. */
static struct label label_of(const struct stack_record *r)
{
    const char *text = (const char *)&r->pcs[1];
    struct str key = str_of(text, r->pcs[0] & 0xffffffff);

    return (struct label){key, str_of(text + key.n, r->pcs[0] >> 32)};
}

/* Without room for it the thread's name was left out. */
uint32_t labels_without_thread(uint32_t set)
{
    const struct stack_table *t = sets();
    const struct stack_record *r;

    if (!t || !set || set >= t->cap)
        return set;
    r = (const struct stack_record *)(t->arena + set);
    return str_eq(label_of(r).key, STR("thread")) ? (uint32_t)r->tag : set;
}

/* Into its place by key, unless an inner one is there already. */
static size_t insert(struct label *v, size_t n, struct label label)
{
    size_t at = n;

    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].key, label.key))
            return n;
    if (n == LABELS_MAX)
        return n;
    for (; at > 0 && str_cmp(v[at - 1].key, label.key) > 0; at--)
        v[at] = v[at - 1];
    v[at] = label;
    return n + 1;
}

size_t labels_list(uint32_t set, struct label out[LABELS_MAX])
{
    const struct stack_table *t = sets();
    size_t n = 0;

    while (t && set && set < t->cap) {
        const struct stack_record *r =
            (const struct stack_record *)(t->arena + set);

        n = insert(out, n, label_of(r));
        set = (uint32_t)r->tag;
    }
    return n;
}

uint64_t labels_lost(void)
{
    return atomic_load(&lost);
}

const char *label_state_name(unsigned state)
{
    static const char *const names[] = {[STATE_NONE] = "",
                                        [STATE_RUNNING] = "running",
                                        [STATE_RUNNABLE] = "runnable",
                                        [STATE_SLEEPING] = "sleeping",
                                        [STATE_DISK] = "disk",
                                        [STATE_LOCK] = "lock",
                                        [STATE_STOPPED] = "stopped"};

    return state <= STATE_STOPPED ? names[state] : "";
}
