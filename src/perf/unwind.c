/*
 * Walks a copy of a user stack that perf recorded together with the registers.
 * It uses the same compiled unwind rules as libpprof (elf/unwind_table.h),
 * built once per binary, and follows frame pointers where a binary is not
 * available.  Every load is checked against the copied bytes: they end
 * somewhere.
 */
#include "perf/unwind.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/pages.h"
#include "elf/elf_file.h"

#define MAX_MODULE ((off_t)1 << 31) /* bytes of a file that is read */
#define MAX_FRAME  ((uint64_t)1 << 24)

bool perf_unwinder_init(struct perf_unwinder *u, struct arena *a)
{
    *u = (struct perf_unwinder){.arena = a};
    return rule_set_init(&u->rules);
}

void perf_unwinder_release(struct perf_unwinder *u)
{
    for (size_t i = 0; i < u->modules.n; i++)
        if (u->modules.v[i].is_there)
            unwind_table_release(&u->modules.v[i].table);
    rule_set_release(&u->rules);
}

/* --- modules ------------------------------------------------------------ */

static void keep_segments(struct unwind_module *m, const struct elf_view *v,
                          const uint8_t *bytes)
{
    assert(v->n_segments <= ELF_MAX_SEGMENTS && m->n_segments == 0);
    for (size_t i = 0; i < v->n_segments; i++) {
        m->segments[m->n_segments].offset =
            (uint64_t)(v->segments[i].bytes - bytes);
        m->segments[m->n_segments].n = v->segments[i].n;
        m->segments[m->n_segments++].vaddr = v->segments[i].vaddr;
    }
}

static bool same_build(const struct elf_view *v, struct str wanted)
{
    uint8_t id[ELF_BUILD_ID_MAX];
    size_t n = elf_build_id(v, id);

    return wanted.n == 0 || str_eq(str_of((const char *)id, n), wanted);
}

static void load_module(struct perf_unwinder *u, struct unwind_module *m,
                        struct str build_id)
{
    int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct elf_view v;
    struct stat st;
    uint8_t *bytes = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > 0 && st.st_size < MAX_MODULE)
        bytes = pages_alloc((size_t)st.st_size);
    if (bytes && elf_read_at(fd, bytes, (size_t)st.st_size, 0) &&
        elf_view_file(&v, bytes, (size_t)st.st_size) &&
        same_build(&v, build_id)) {
        keep_segments(m, &v, bytes);
        m->is_there = unwind_table_build(&m->table, &v, &u->rules);
    }
    if (bytes)
        pages_free(bytes, (size_t)st.st_size);
    if (fd >= 0)
        close(fd);
}

static const struct unwind_module *module_of(struct perf_unwinder *u,
                                             struct unwind_file *f)
{
    struct unwind_module *m;

    for (size_t i = 0; f->module == UINT32_MAX && i < u->modules.n; i++)
        if (str_eq(str_from(u->modules.v[i].path), f->path))
            f->module = (uint32_t)i;
    if (f->module == UINT32_MAX) {
        f->module = (uint32_t)u->modules.n;
        m = vec_push(u->arena, &u->modules);
        m->path = arena_cstr(u->arena, f->path);
        load_module(u, m, f->build_id);
    }
    return &u->modules.v[f->module];
}

/* The rule at a run-time address, or NULL. */
static const struct unwind_rule *
find_rule(struct perf_unwinder *u, const struct perf_space *space, uint64_t pc)
{
    const struct perf_map *map = perf_space_find(space, pc);
    struct unwind_file *f = map ? &u->files.v[map->file] : NULL;
    const struct unwind_module *m = f ? module_of(u, f) : NULL;
    uint64_t offset;

    if (!m || !m->is_there)
        return NULL;
    offset = pc - f->start + f->offset;
    for (size_t i = 0; i < m->n_segments; i++)
        if (offset - m->segments[i].offset < m->segments[i].n)
            return &u->rules.rules[unwind_table_find(
                &m->table,
                offset - m->segments[i].offset + m->segments[i].vaddr)];
    return NULL;
}

/* --- registers ---------------------------------------------------------- */

#if defined(__x86_64__)
/* DWARF's numbers to those of perf: ax bx cx dx si di bp sp ip flags, six
 * segments, r8 … r15. */
static const uint8_t perf_of_dwarf[DWARF_N] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8,
};
#define PERF_PC 8
#else
static const uint8_t perf_of_dwarf[DWARF_N] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};
#define PERF_PC 32
#endif

struct walker {
    const struct perf_sample *sample;
    uint64_t regs[DWARF_N];
    bool known[DWARF_N];
    uint64_t pc;
    uint64_t stack; /* address of the copy's first byte */
};

static bool perf_register(const struct perf_sample *s, unsigned which,
                          uint64_t *out)
{
    uint64_t mask = s->event->regs_user;

    if (!s->regs || !(mask >> which & 1))
        return false;
    *out = perf_word(s->regs, (size_t)__builtin_popcountll(
                                  mask & (((uint64_t)1 << which) - 1)));
    return true;
}

static bool load(const struct walker *w, uint64_t address, uint64_t *out)
{
    uint64_t at = address - w->stack;

    if (at > w->sample->stack.n || w->sample->stack.n - at < 8)
        return false;
    memcpy(out, w->sample->stack.s + at, sizeof(*out));
    return true;
}

static bool reg(const struct walker *w, unsigned which, uint64_t *out)
{
    if (which >= DWARF_N || !w->known[which])
        return false;
    *out = w->regs[which];
    return true;
}

static uint64_t plus(uint64_t base, int64_t offset)
{
    return base + (uint64_t)offset;
}

/* --- steps -------------------------------------------------------------- */

static bool find_cfa(const struct walker *w, const struct unwind_rule *r,
                     uint64_t *out)
{
    uint64_t base;

    switch (rule_kind(r)) {
    case RULE_REG:
        if (!reg(w, rule_reg(r), &base))
            return false;
        *out = plus(base, r->off);
        return true;
    case RULE_DEREF:
        if (!reg(w, rule_reg(r), &base) || !load(w, plus(base, r->off), &base))
            return false;
        *out = plus(base, r->add);
        return true;
    case RULE_PLT:
        *out =
            w->regs[DWARF_SP] + 8 + ((w->pc & 15) >= (uint64_t)r->add ? 8 : 0);
        return true;
    default:
        return false;
    }
}

/* Where a saved register lies: from the CFA, or from the frame pointer. */
static bool restore(const struct walker *w, uint64_t cfa, bool at_cfa,
                    bool at_fp, int16_t offset, uint64_t *value, bool *known)
{
    if (!at_cfa && !at_fp)
        return true;
    *known = true;
    return load(w, plus(at_cfa ? cfa : w->regs[DWARF_FP], offset), value);
}

static bool step_rule(struct walker *w, const struct unwind_rule *r)
{
    uint64_t cfa, ra, fp = w->regs[DWARF_FP];
    bool knows_fp = w->known[DWARF_FP] && !(r->flags & RULE_FP_LOST);
#if defined(__x86_64__)
    uint64_t bx = w->regs[DWARF_BX];
    bool knows_bx = w->known[DWARF_BX];
#endif

    if (!find_cfa(w, r, &cfa) || cfa - w->regs[DWARF_SP] > MAX_FRAME)
        return false;
    if (r->flags & RULE_RA_AT_CFA
            ? !load(w, plus(cfa, r->ra_off), &ra)
            : !(r->flags & RULE_RA_IN_REG) || !reg(w, (unsigned)r->ra_off, &ra))
        return false;
    if (!restore(w, cfa, r->flags & RULE_FP_AT_CFA, r->flags & RULE_FP_AT_FP,
                 r->fp_off, &fp, &knows_fp))
        return false;
#if defined(__x86_64__)
    if (!restore(w, cfa, r->flags & RULE_BX_AT_CFA, r->flags & RULE_BX_AT_FP,
                 r->bx_off, &bx, &knows_bx))
        return false;
#endif
    memset(w->known, 0, sizeof(w->known));
    w->regs[DWARF_SP] = cfa;
    w->regs[DWARF_FP] = fp;
    w->known[DWARF_SP] = true;
    w->known[DWARF_FP] = knows_fp;
#if defined(__x86_64__)
    w->regs[DWARF_BX] = bx;
    w->known[DWARF_BX] = knows_bx;
#endif
    w->pc = ra;
    return true;
}

static bool step_frame_pointer(struct walker *w)
{
    uint64_t at, fp, ra;

    if (!reg(w, DWARF_FP, &at) || at < w->regs[DWARF_SP] ||
        at - w->regs[DWARF_SP] > MAX_FRAME || !load(w, at, &fp) ||
        !load(w, at + 8, &ra))
        return false;
    memset(w->known, 0, sizeof(w->known));
    w->regs[DWARF_SP] = at + 16;
    w->regs[DWARF_FP] = fp;
    w->known[DWARF_SP] = w->known[DWARF_FP] = true;
    w->pc = ra;
    return true;
}

/* The registers that a signal interrupted lie above its trampoline. */
static bool step_signal(struct walker *w)
{
#if defined(__x86_64__)
    uint64_t at = w->regs[DWARF_SP] + offsetof(ucontext_t, uc_mcontext) +
                  offsetof(mcontext_t, gregs);
    bool ok = load(w, at + REG_RIP * 8, &w->pc) &&
              load(w, at + REG_RBP * 8, &w->regs[DWARF_FP]) &&
              load(w, at + REG_RBX * 8, &w->regs[DWARF_BX]) &&
              load(w, at + REG_RSP * 8, &w->regs[DWARF_SP]);
#else
    uint64_t at = w->regs[DWARF_SP] + sizeof(siginfo_t) +
                  offsetof(ucontext_t, uc_mcontext) +
                  offsetof(mcontext_t, regs);
    bool ok = load(w, at + 32 * 8, &w->pc) &&
              load(w, at + 29 * 8, &w->regs[DWARF_FP]) &&
              load(w, at + 30 * 8, &w->regs[DWARF_RA]) &&
              load(w, at + 31 * 8, &w->regs[DWARF_SP]);

    w->known[DWARF_RA] = true;
#endif
    return ok;
}

static bool begin(struct walker *w, const struct perf_sample *s)
{
    *w = (struct walker){.sample = s};
    for (unsigned i = 0; i < DWARF_N; i++)
        w->known[i] = perf_register(s, perf_of_dwarf[i], &w->regs[i]);
    w->stack = w->regs[DWARF_SP];
    return s->stack.n && w->known[DWARF_SP] &&
           perf_register(s, PERF_PC, &w->pc);
}

size_t perf_unwind(struct perf_unwinder *u, const struct perf_space *space,
                   const struct perf_sample *s, uint64_t *out, size_t max)
{
    struct walker w;
    uint64_t lookup;
    size_t n = 0;

    if (!begin(&w, s))
        return 0;
    lookup = w.pc;
    while (n < max && w.pc) {
        const struct unwind_rule *r = find_rule(u, space, lookup);
        enum rule_kind kind = r ? rule_kind(r) : RULE_NONE;
        bool ok;

        out[n++] = lookup;
        if (kind == RULE_END)
            break;
        if (kind == RULE_SIGNAL)
            ok = step_signal(&w);
        else
            ok = kind == RULE_NONE ? step_frame_pointer(&w) : step_rule(&w, r);
        if (!ok)
            break;
        lookup = kind == RULE_SIGNAL ? w.pc : w.pc - 1;
    }
    return n;
}
