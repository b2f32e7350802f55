/*
 * Runs in a copy of the process where all locks are as other threads left
 * them: nothing of libc but system calls, no allocator, no thread-locals.
 *
 * A process that has given up privileges may not open /proc/self/mem and
 * /proc/self/pagemap, but may still read its own memory by
 * process_vm_readv(), and ask by mincore() which pages are there.  mincore()
 * does not see pages that are swapped out, so it is asked only if there are
 * none.  (Making the copy dumpable would open the files, and would also open
 * the copy to every process of the user.)
 */
#include "runtime/heap/leak_scan.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/uio.h>
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
    int mem, pagemap; /* negative: see above */
    long pid;
    bool can_ask;           /* mincore() tells the truth */
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

/* Bytes of this process's memory, as many as there are from `address` on. */
static long read_memory(const struct scanner *c, uint64_t address, size_t n)
{
    struct iovec to = {c->window, n}, from = {(void *)address, n};

    if (c->mem >= 0)
        return read_at(c->mem, c->window, n, address);
    return raw_call6(SYS_process_vm_readv, c->pid, (long)&to, 1, (long)&from, 1,
                     0);
}

#define PRESENT ((uint64_t)3 << 62) /* in memory, or swapped out */

/* Which of n pages are there, as /proc/self/pagemap says it: PRESENT. */
static bool find_present(const struct scanner *c, uint64_t first, uint64_t n)
{
    unsigned char resident[WINDOW / PAGE];

    if (c->pagemap >= 0)
        return read_at(c->pagemap, c->flags, n * 8, first * 8) == (long)(n * 8);
    if (!c->can_ask || raw_call4(SYS_mincore, (long)(first * PAGE),
                                 (long)(n * PAGE), (long)resident, 0) != 0)
        return false;
    for (uint64_t i = 0; i < n; i++)
        c->flags[i] = resident[i] & 1 ? PRESENT : 0;
    return true;
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
        long got = read_memory(c, start, n);

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
        if (!find_present(c, first, n)) {
            read_range(c, start, limit);
            return;
        }
        for (uint64_t i = 0; i <= n; i++) {
            bool present = i < n && (c->flags[i] & PRESENT);
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

/* "VmSwap:     0 kB" in /proc/self/status. */
static bool is_swapped(void)
{
    int fd = open_file("/proc/self/status");
    char text[4096];
    long n = fd < 0 ? -1 : read_at(fd, text, sizeof(text), 0);
    struct str rest = str_of(text, n > 0 ? (size_t)n : 0), line;

    if (fd >= 0)
        raw_call4(SYS_close, fd, 0, 0, 0);
    while (str_next_line(&rest, &line))
        if (str_has_prefix(line, STR("VmSwap:")))
            return !str_has_suffix(line, STR(" 0 kB"));
    return true; /* not known */
}

/* Returns true if there is a way to read memory. */
static bool can_read(const struct scanner *c)
{
    return read_memory(c, (uint64_t)(uintptr_t)c->s, sizeof(*c->s)) ==
           (long)sizeof(*c->s);
}

static enum leak_end begin(struct scanner *c, struct leak_scan *s)
{
    *c = (struct scanner){.s = s, .queue = {.size = sizeof(uint32_t)}};
    c->pid = raw_call4(SYS_getpid, 0, 0, 0, 0);
    c->mem = open_file("/proc/self/mem");
    c->pagemap = open_file("/proc/self/pagemap");
    c->window = pages_alloc(WINDOW);
    c->flags = pages_alloc(WINDOW / PAGE * 8);
    c->pages = pages_alloc(PAGE_BITS / 8);
    if (!c->window || !c->flags || !c->pages)
        return LEAK_OUT_OF_MEMORY;
    c->can_ask = c->pagemap < 0 && !is_swapped();
    return can_read(c) ? LEAK_DONE : LEAK_NO_ACCESS;
}

static bool is_root(const struct maps_entry *e)
{
    return e->readable && e->writable && !is_device(e) &&
           (!e->is_shared || e->limit - e->start <= SHARED_MAX);
}

void leak_scan_run(struct leak_scan *s)
{
    struct scanner c;
    struct maps maps;

    /* The list first: what is made now is not part of the program. */
    s->result->end =
        maps_read(&maps, "/proc/self/maps") ? begin(&c, s) : LEAK_NO_MAPS;
    if (s->result->end != LEAK_DONE)
        return;
    s->result->end = LEAK_UNFINISHED;
    mark_pages(&c);
    meet_all(&c, s->words, s->n_words);
    for (size_t i = 0; i < maps.entries.n && !is_late(&c); i++) {
        const struct maps_entry *e = maps_at(&maps, i);

        if (is_root(e))
            read_roots(&c, e->start, e->limit, e->is_shared);
    }
    read_reached(&c);
    s->result->end = c.out_of_memory ? LEAK_OUT_OF_MEMORY
                     : is_late(&c)   ? LEAK_LATE
                                     : LEAK_DONE;
}
