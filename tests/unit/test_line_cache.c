/*
 * Lines kept between profiles: what comes back is what was stored, for the
 * same build only, within the limit, and for a minute if it was not final.
 */
#include "test.h"

#include "base/clock.h"
#include "fail_pages.h"
#include "runtime/write/line_cache.h"

#define ROOM ((size_t)1 << 20)

static const struct line_module work = {"/bin/work", {1, 2, 3}, 3};

/* A store with the two frames of an address. */
static struct line_place fill(struct lines *l, bool is_final)
{
    const struct symbol_frame frames[] = {
        {STR("square"), STR("work.c"), 5, 2, 3},
        {STR("leaf"), STR("work.c"), 12, 9, 8}};
    struct line_place place = {.is_final = is_final};

    lines_init(l);
    EXPECT(lines_reserve(l, 16));
    lines_add(l, &place, frames, 2);
    return place;
}

static void keep(struct line_cache *c, const struct line_module *m,
                 uint64_t vaddr, bool is_final, bool is_found)
{
    struct line_place place = {.is_final = is_final};
    struct lines from;
    uint32_t module;

    place = is_found ? fill(&from, is_final) : place;
    if (!is_found)
        lines_init(&from);
    line_cache_begin(c);
    if (line_cache_add_module(c, m, &module))
        line_cache_add(c, module, vaddr, 0, &from, place);
    lines_release(&from);
}

/* Is it known; if so, does it have the frames of fill()? */
static bool has(const struct line_cache *c, const struct line_module *m,
                uint64_t vaddr, int64_t now_ns, uint32_t frames)
{
    struct line_place place = {0};
    const struct line_frame *f;
    struct lines to;
    uint32_t module;
    bool found;

    lines_init(&to);
    EXPECT(lines_reserve(&to, 16));
    found = line_cache_find_module(c, m, &module) &&
            line_cache_find(c, module, vaddr, now_ns, &to, &place);
    if (found) {
        EXPECT(place.n == frames && place.is_cached);
        f = lines_frames(&to, place);
        for (uint32_t i = 0; i < place.n; i++) {
            struct line_function *v = lines_function(&to, f[i].function);

            EXPECT(str_eq(lines_text(&to, v->name),
                          i ? STR("leaf") : STR("square")));
            EXPECT(str_eq(lines_text(&to, v->file), STR("work.c")));
            EXPECT(f[i].line == (i ? 12 : 5) && f[i].column == (i ? 9 : 2));
            EXPECT(v->start_line == (i ? 8 : 3));
        }
    }
    lines_release(&to);
    return found;
}

TEST(what_was_stored_comes_back)
{
    struct line_cache c;

    line_cache_init(&c, ROOM);
    EXPECT(!has(&c, &work, 0x1000, 0, 2));
    keep(&c, &work, 0x1000, true, true);
    EXPECT(has(&c, &work, 0x1000, 1000 * SECOND, 2));
    EXPECT(!has(&c, &work, 0x1001, 0, 2));
    line_cache_release(&c);
}

TEST(another_build_or_file_has_other_lines)
{
    struct line_module build = work, file = work;
    struct line_cache c;

    build.build_id[0] = 9;
    file.path[1] = 'x';
    line_cache_init(&c, ROOM);
    keep(&c, &work, 0x1000, true, true);
    EXPECT(!has(&c, &build, 0x1000, 0, 2));
    EXPECT(!has(&c, &file, 0x1000, 0, 2));
    keep(&c, &build, 0x1000, true, false);
    EXPECT(has(&c, &build, 0x1000, 0, 0));
    EXPECT(has(&c, &work, 0x1000, 0, 2));
    line_cache_release(&c);
}

TEST(what_was_not_found_is_looked_up_again)
{
    struct line_cache c;

    line_cache_init(&c, ROOM);
    keep(&c, &work, 0x1000, false, false);
    EXPECT(has(&c, &work, 0x1000, 59 * SECOND, 0));
    EXPECT(!has(&c, &work, 0x1000, 60 * SECOND, 0));
    keep(&c, &work, 0x1000, true, true);
    EXPECT(has(&c, &work, 0x1000, 60 * SECOND, 2));
    line_cache_release(&c);
}

TEST(a_full_cache_starts_again)
{
    int64_t before = fail_pages_bytes;
    struct line_cache c;
    uint64_t n = 0;

    line_cache_init(&c, (size_t)200 << 10);
    while (!c.is_full)
        keep(&c, &work, 0x1000 + n++, true, true);
    EXPECT(n > 100 && n < 10000);
    EXPECT(has(&c, &work, 0x1000, 0, 2));
    EXPECT(fail_pages_bytes - before < 1 << 20);
    keep(&c, &work, 0x1, true, true);
    EXPECT(!c.is_full && has(&c, &work, 0x1, 0, 2));
    EXPECT(!has(&c, &work, 0x1000, 0, 2));
    line_cache_release(&c);
    EXPECT(fail_pages_bytes == before);
}

/* Whatever fails, it says nothing wrong, and works again afterwards. */
TEST(without_memory_it_stays_empty)
{
    int64_t before = fail_pages_bytes;
    bool was_hit = true;

    for (int n = 1; was_hit; n++) {
        struct line_cache c;
        struct lines from;
        struct line_place place = fill(&from, true);
        uint32_t module;

        line_cache_init(&c, ROOM);
        fail_pages_at(n);
        line_cache_begin(&c);
        if (line_cache_add_module(&c, &work, &module))
            line_cache_add(&c, module, 0x1000, 0, &from, place);
        was_hit = fail_pages_was_hit();
        EXPECT(has(&c, &work, 0x1000, 0, 2) == !was_hit);
        keep(&c, &work, 0x1000, true, true);
        EXPECT(has(&c, &work, 0x1000, 0, 2));
        lines_release(&from);
        line_cache_release(&c);
        EXPECT(n < 100);
    }
    EXPECT(fail_pages_bytes == before);
}

TEST_MAIN
