/*
 * Runs in a copy of the process where all locks are as other threads left
 * them: nothing of libc but system calls, no allocator, no thread-locals.
 */
#include "runtime/leak_scan.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <time.h>

#include "base/pages.h"
#include "base/search.h"
#include "elf/maps.h"
#include "runtime/rawcall.h"

#define PAGE        4096u
#define WINDOW      (256u << 10) /* bytes read at once */
#define SHARED_MAX  ((uint64_t)1 << 30)
#define PAGE_BITS   (1u << 22)
#define QUEUE_START 4096

struct scanner {
    struct leak_scan *s;
    int mem, pagemap;
    uint64_t *window;       /* WINDOW bytes */
    uint64_t *flags;        /* of the window's pages */
    uint64_t *pages;        /* PAGE_BITS: pages that may be part of a block */
    struct pages_vec queue; /* of uint32_t: reached, not yet read */
    uint64_t low, high;
    bool out_of_memory;
};

static int64_t now_ns(void)
{
    struct timespec t = {0};

    raw_call4(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_late(const struct scanner *c)
{
    return c->out_of_memory || now_ns() > c->s->deadline_ns;
}

static int open_file(const char *path)
{
    return (int)raw_call4(SYS_openat, AT_FDCWD, (long)path,
                          O_RDONLY | O_CLOEXEC, 0);
}

static long read_at(int fd, void *to, size_t n, uint64_t offset)
{
    return raw_call4(SYS_pread64, fd, (long)to, (long)n, (long)offset);
}

static uint64_t page_bit(uint64_t address)
{
    return (address / PAGE * 0x9e3779b97f4a7c15u) >> 42;
}

/* The block that an address is in, or NULL. */
static struct leak_block *find_block(const struct scanner *c, uint64_t address)
{
    struct leak_block *b = c->s->blocks;
    size_t next = search_first(i, 0, c->s->n, b[i].address > address);

    if (next == 0)
        return NULL;
    b += next - 1;
    return address - b->address < b->size || address == b->address ? b : NULL;
}

static void meet(struct scanner *c, uint64_t word)
{
    uint64_t bit = page_bit(word);
    struct leak_block *b;
    uint32_t *to;

    if (word < c->low || word >= c->high ||
        !(c->pages[bit / 64] >> (bit % 64) & 1))
        return;
    b = find_block(c, word);
    if (!b || b->reached)
        return;
    b->reached = 1;
    to = pages_vec_push(&c->queue, 1);
    if (to)
        *to = (uint32_t)(b - c->s->blocks);
    else
        c->out_of_memory = true;
}

static void meet_all(struct scanner *c, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        meet(c, words[i]);
}

/* Reads [start, limit), words aligned. */
static void read_range(struct scanner *c, uint64_t start, uint64_t limit)
{
    start = (start + 7) & ~(uint64_t)7;
    limit &= ~(uint64_t)7;
    while (start < limit && !is_late(c)) {
        uint64_t n = limit - start < WINDOW ? limit - start : WINDOW;
        long got = read_at(c->mem, c->window, n, start);

        if (got <= 0) {
            uint64_t next = (start / PAGE + 1) * PAGE;

            c->s->result->skipped += (next < limit ? next : limit) - start;
            start = next;
            continue;
        }
        meet_all(c, c->window, (size_t)got / 8);
        c->s->result->bytes += (uint64_t)got;
        start += (uint64_t)got & ~(uint64_t)7;
        if (got < 8)
            start = (start / PAGE + 1) * PAGE;
    }
}

/* The same, but pages that were never written hold nothing. */
static void read_present(struct scanner *c, uint64_t start, uint64_t limit)
{
    while (start < limit && !is_late(c)) {
        uint64_t first = start / PAGE, last = (limit + PAGE - 1) / PAGE,
                 n = last - first;
        uint64_t run = start;
        bool in_run = false;

        n = n < WINDOW / PAGE ? n : WINDOW / PAGE;
        if (read_at(c->pagemap, c->flags, n * 8, first * 8) != (long)(n * 8)) {
            read_range(c, start, limit);
            return;
        }
        for (uint64_t i = 0; i <= n; i++) {
            bool present = i < n && c->flags[i] >> 62;
            uint64_t at = (first + i) * PAGE;

            at = at < start ? start : at < limit ? at : limit;
            if (present && !in_run)
                run = at;
            if (!present && in_run)
                read_range(c, run, at);
            in_run = present;
        }
        start = (first + n) * PAGE;
    }
}

/* What is left of a range without our own memory and without the blocks,
 * which are read when they are reached. */
static void read_roots(struct scanner *c, uint64_t start, uint64_t limit,
                       bool is_shared)
{
    const struct leak_range *h = c->s->hidden;
    struct leak_block *b = c->s->blocks;
    size_t hi = 0, bi = 0;

    while (hi < c->s->n_hidden && h[hi].limit <= start)
        hi++;
    while (bi < c->s->n && b[bi].address + b[bi].size <= start)
        bi++;
    while (start < limit) {
        uint64_t end = limit, next = limit;

        if (hi < c->s->n_hidden && h[hi].start < end) {
            end = h[hi].start;
            next = h[hi].limit;
        }
        if (bi < c->s->n && b[bi].address < end) {
            end = b[bi].address;
            next = end + b[bi].size;
        }
        if (start < end && is_shared)
            read_range(c, start, end);
        else if (start < end)
            read_present(c, start, end);
        start = next > start ? next : start;
        while (hi < c->s->n_hidden && h[hi].limit <= start)
            hi++;
        while (bi < c->s->n && b[bi].address + b[bi].size <= start)
            bi++;
    }
}

/* Devices may do something when they are read. */
static bool is_device(const struct maps_entry *e)
{
    return str_has_prefix(e->path, STR("/dev/")) &&
           !str_has_prefix(e->path, STR("/dev/shm/")) &&
           !str_has_prefix(e->path, STR("/dev/zero"));
}

static void read_reached(struct scanner *c)
{
    while (c->queue.n && !is_late(c)) {
        uint32_t i = ((const uint32_t *)c->queue.p)[--c->queue.n];
        const struct leak_block *b = &c->s->blocks[i];

        read_present(c, b->address, b->address + b->size);
    }
}

static void mark_pages(struct scanner *c)
{
    const struct leak_block *b = c->s->blocks;

    for (size_t i = 0; i < c->s->n; i++) {
        uint64_t last = b[i].address + (b[i].size ? b[i].size - 1 : 0);

        for (uint64_t p = b[i].address / PAGE; p <= last / PAGE; p++) {
            uint64_t bit = page_bit(p * PAGE);

            c->pages[bit / 64] |= (uint64_t)1 << (bit % 64);
        }
        c->high = last + 1 > c->high ? last + 1 : c->high;
    }
    c->low = c->s->n ? b[0].address : 0;
}

static bool begin(struct scanner *c, struct leak_scan *s)
{
    *c = (struct scanner){.s = s, .queue = {.size = sizeof(uint32_t)}};
    c->mem = open_file("/proc/self/mem");
    c->pagemap = open_file("/proc/self/pagemap");
    c->window = pages_alloc(WINDOW);
    c->flags = pages_alloc(WINDOW / PAGE * 8);
    c->pages = pages_alloc(PAGE_BITS / 8);
    return c->mem >= 0 && c->window && c->flags && c->pages;
}

void leak_scan_run(struct leak_scan *s)
{
    struct scanner c;
    struct maps maps;

    /* The list first: what is made now is not part of the program. */
    if (!maps_read(&maps, "/proc/self/maps") || !begin(&c, s))
        return;
    mark_pages(&c);
    meet_all(&c, s->words, s->n_words);
    for (size_t i = 0; i < maps.entries.n && !is_late(&c); i++) {
        const struct maps_entry *e = maps_at(&maps, i);
        bool is_shared = e->is_shared;

        if (!e->readable || !e->writable || is_device(e) ||
            (is_shared && e->limit - e->start > SHARED_MAX))
            continue;
        read_roots(&c, e->start, e->limit, is_shared);
    }
    read_reached(&c);
    s->result->is_done = !is_late(&c);
}
