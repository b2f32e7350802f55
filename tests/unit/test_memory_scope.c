#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory_scope.h"
#include "base/vec.h"

#define MB ((size_t)1 << 20)

/* --- what the work does --------------------------------------------------- */

struct work {
    size_t bytes;        /* allocated in steps of `step` */
    size_t step;         /* 0: all at once */
    bool came_to_end;    /* set at the end of the work */
    struct arena *arena; /* made by the work, not freed by it */
};

static void allocate(void *arg)
{
    struct work *w = arg;
    size_t step = w->step ? w->step : w->bytes;

    w->arena = arena_new();
    for (size_t n = 0; n < w->bytes; n += step)
        arena_alloc(w->arena, step);
    w->came_to_end = true;
}

static void allocate_and_free(void *arg)
{
    struct work *w = arg;

    allocate(w);
    arena_free(w->arena);
    w->arena = NULL;
}

/* --- budgets -------------------------------------------------------------- */

TEST(work_that_fits_its_budget_succeeds)
{
    struct work w = {.bytes = MB / 2, .step = 100};
    struct error err = {""};

    EXPECT(memory_scope_run(MB, allocate_and_free, &w, &err));
    EXPECT(w.came_to_end);
    EXPECT_STR(str_from(err.text), "");
}

TEST(work_that_exceeds_its_budget_is_left_with_an_error)
{
    static const size_t steps[] = {16, 1000, 100000, 300000, 0};

    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        struct work w = {.bytes = 2 * MB, .step = steps[i]};
        struct error err = {""};

        EXPECT(!memory_scope_run(MB, allocate_and_free, &w, &err));
        EXPECT(!w.came_to_end);
        EXPECT(err.code == ENOMEM);
        EXPECT_STR(str_from(err.text), "this needs more memory than the "
                                       "1048576 bytes that one request may "
                                       "use");
    }
}

TEST(nearly_all_of_a_budget_can_be_used)
{
    struct work w = {.bytes = MB - 1000, .step = 16};
    struct error err;

    EXPECT(memory_scope_run(MB, allocate_and_free, &w, &err));
}

TEST(memory_that_was_given_back_can_be_used_again)
{
    struct work w = {.bytes = MB - 1000, .step = 0};
    struct error err;

    for (int i = 0; i < 3; i++)
        EXPECT(memory_scope_run(MB, allocate_and_free, &w, &err));
}

static void allocate_twice(void *arg)
{
    struct work *w = arg;

    allocate_and_free(w);
    allocate_and_free(w);
}

TEST(an_arena_that_ends_in_the_scope_gives_its_bytes_back)
{
    struct work w = {.bytes = MB * 3 / 4};
    struct error err;

    EXPECT(memory_scope_run(MB, allocate_twice, &w, &err));
}

static void grow(void *arg)
{
    struct arena *a = arena_new();
    VEC(uint64_t) v = {0};

    (void)arg;
    for (uint64_t i = 0; i < MB; i++)
        *vec_push(a, &v) = i;
    arena_free(a);
}

TEST(a_vector_that_grows_counts_once)
{
    struct error err;

    EXPECT(memory_scope_run(24 * MB, grow, NULL, &err));
    EXPECT(!memory_scope_run(7 * MB, grow, NULL, &err));
}

static void overflow(void *arg)
{
    struct arena *a = arena_new();

    *(void **)arg = arena_alloc_array(a, SIZE_MAX / 2, 16);
}

TEST(a_size_that_overflows_is_an_error_of_the_work)
{
    void *p = NULL;
    struct error err = {""};

    EXPECT(!memory_scope_run(MEMORY_UNLIMITED, overflow, &p, &err));
    EXPECT(!p);
    EXPECT_STR(str_from(err.text), "out of memory");
}

/* --- buffers -------------------------------------------------------------- */

struct writing {
    size_t bytes;
    bool failed, came_to_end;
};

static void write_text(void *arg)
{
    struct writing *w = arg;
    struct arena *a = arena_new();
    struct buf b = arena_buf(a);

    while (b.len < w->bytes && buf_ok(&b))
        buf_add(&b, STR("0123456789abcdef"));
    w->failed = !buf_ok(&b);
    buf_release(&b);
    arena_free(a);
    w->came_to_end = true;
}

TEST(a_buffer_fails_in_place_and_the_work_as_a_whole)
{
    struct writing small = {.bytes = MB / 4}, large = {.bytes = 4 * MB};
    struct error err = {""};

    EXPECT(memory_scope_run(MB, write_text, &small, &err));
    EXPECT(!small.failed && small.came_to_end);
    EXPECT(!memory_scope_run(MB, write_text, &large, &err));
    EXPECT(large.failed && large.came_to_end);
    EXPECT(err.code == ENOMEM);
}

TEST(the_newest_bytes_of_an_arena_can_be_given_back)
{
    struct arena *a = arena_new();
    char *first = arena_alloc(a, 100), *again;

    arena_release(a, first, 100);
    again = arena_alloc(a, 100);
    EXPECT(again == first);
    arena_alloc(a, 1);
    arena_release(a, again, 100); /* no longer the newest: nothing happens */
    EXPECT(arena_alloc(a, 100) != again);
    arena_free(a);
}

TEST(a_buffer_in_an_arena_keeps_its_bytes_while_others_allocate)
{
    struct arena *a = arena_new();
    struct buf b = arena_buf(a);

    for (int i = 0; i < 100000; i++) {
        buf_add_char(&b, (char)('a' + i % 26));
        if (i % 1000 == 0)
            memset(arena_alloc(a, 50), 0xff, 50);
    }
    EXPECT(buf_ok(&b) && b.len == 100000);
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] != (char)('a' + i % 26)) {
            EXPECT(!"the bytes that were added");
            break;
        }
    buf_release(&b);
    EXPECT(b.len == 0);
    buf_add(&b, STR("usable again"));
    EXPECT_STR(buf_str(&b), "usable again");
    arena_free(a);
}

/* --- resources ------------------------------------------------------------ */

static char released[8];

struct thing {
    struct scope_resource resource;
    char name;
};

static void release_thing(struct scope_resource *r)
{
    size_t n = strlen(released);

    released[n] = ((struct thing *)r)->name;
    released[n + 1] = '\0';
}

static void adopt_and_fail(void *arg)
{
    struct thing *things = arg;
    struct work w = {.bytes = 2 * MB};

    for (int i = 0; i < 3; i++)
        memory_scope_adopt(&things[i].resource, release_thing);
    memory_scope_disown(&things[1].resource);
    allocate(&w);
}

TEST(what_the_scope_owns_is_released_newest_first)
{
    struct thing things[] = {
        {.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};
    struct error err;

    released[0] = '\0';
    EXPECT(!memory_scope_run(MB, adopt_and_fail, things, &err));
    EXPECT_STR(str_from(released), "ca");
    memory_scope_adopt(&things[3].resource, release_thing); /* no scope */
    memory_scope_disown(&things[3].resource);
    EXPECT_STR(str_from(released), "ca");
}

static void publish(void *arg)
{
    struct work kept = {.bytes = MB / 2}, w = {.bytes = 2 * MB};
    struct arena **out = arg;

    allocate(&kept);
    arena_detach(kept.arena);
    *out = kept.arena;
    allocate(&w);
}

TEST(a_detached_arena_outlives_a_failure)
{
    struct arena *kept = NULL;
    struct error err;

    EXPECT(!memory_scope_run(MB, publish, &kept, &err));
    EXPECT(arena_alloc(kept, MB) != NULL);
    arena_free(kept);
}

TEST(what_is_left_over_after_success_belongs_to_the_caller)
{
    struct work w = {.bytes = 1000};
    struct error err;

    EXPECT(memory_scope_run(MB, allocate, &w, &err));
    EXPECT(arena_alloc(w.arena, 2 * MB) != NULL);
    arena_free(w.arena);
}

/* --- nesting and pauses --------------------------------------------------- */

struct nested {
    size_t outer_bytes, inner_bytes, inner_max;
    bool inner_ok, came_to_end;
    struct error inner_err;
};

static void nest(void *arg)
{
    struct nested *n = arg;
    struct work outer = {.bytes = n->outer_bytes};
    struct work inner = {.bytes = n->inner_bytes};

    allocate(&outer);
    n->inner_ok =
        memory_scope_run(n->inner_max, allocate, &inner, &n->inner_err);
    n->came_to_end = true;
    if (n->inner_ok)
        arena_free(inner.arena);
    arena_free(outer.arena);
}

TEST(an_inner_scope_returns_to_its_caller)
{
    struct nested own = {
        .outer_bytes = 1000, .inner_bytes = MB / 2, .inner_max = MB / 4};
    struct nested outer = {.outer_bytes = MB / 2,
                           .inner_bytes = MB / 2,
                           .inner_max = MEMORY_UNLIMITED};
    struct error err;

    EXPECT(memory_scope_run(MB, nest, &own, &err));
    EXPECT(!own.inner_ok && own.came_to_end);
    EXPECT(str_contains(str_from(own.inner_err.text), STR("262144 bytes")));
    EXPECT(memory_scope_run(MB, nest, &outer, &err));
    EXPECT(!outer.inner_ok && outer.came_to_end);
    EXPECT(str_contains(str_from(outer.inner_err.text), STR("1048576 bytes")));
}

static void nest_and_fail(void *arg)
{
    struct work inner = {.bytes = 1000}, w = {.bytes = 2 * MB};
    struct error err;

    (void)arg;
    EXPECT(memory_scope_run(MEMORY_UNLIMITED, allocate, &inner, &err));
    allocate(&w); /* must free the inner arena, too: see the leak checker */
}

TEST(what_an_inner_scope_leaves_belongs_to_the_outer_one)
{
    struct error err;

    EXPECT(!memory_scope_run(MB, nest_and_fail, NULL, &err));
}

static void pause_and_allocate(void *arg)
{
    struct work mine = {.bytes = 1000}, *w = arg;
    struct memory_scope *scope;

    allocate(&mine);
    scope = memory_scope_pause();
    allocate(w);
    arena_alloc(mine.arena, 2 * MB); /* not refused now … */
    memory_scope_resume(scope);
    arena_alloc(mine.arena, MB / 2); /* … but counted */
    EXPECT(!"reached");
}

TEST(a_paused_scope_refuses_nothing)
{
    struct work w = {.bytes = 2 * MB};
    struct error err;

    EXPECT(!memory_scope_run(MB, pause_and_allocate, &w, &err));
    EXPECT(w.came_to_end);
    arena_free(w.arena);
}

/* --- tools ---------------------------------------------------------------- */

TEST(without_a_scope_the_program_ends_with_a_message)
{
    int ends[2], status;
    char words[128] = "";
    pid_t child;

    EXPECT(pipe(ends) == 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        static struct arena *volatile kept; /* no leak, for the sanitizer */

        kept = arena_new();
        arena_alloc(kept, SIZE_MAX / 4);
        _exit(0);
    }
    close(ends[1]);
    EXPECT(read(ends[0], words, sizeof(words) - 1) > 0);
    close(ends[0]);
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    EXPECT(str_has_prefix(str_from(words), STR("out of memory: no room for ")));
}

TEST_MAIN
