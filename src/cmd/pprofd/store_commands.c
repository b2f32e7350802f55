/*
 * check, stats and schema: what is in a store, or would be, without a server.
 */
#include "cmd/pprofd/store_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size_text.h"
#include "cmd/pprofd/open_store.h"
#include "store/sqlite/sqlite.h"

static int fail(const struct error *err)
{
    fprintf(stderr, "pprofd: %s\n", err->text);
    return 1;
}

static void say(void *arg, const char *finding)
{
    (void)arg;
    printf("%s\n", finding);
}

static bool is_embedded(const struct settings *s, struct error *err)
{
    return s->store.n == 0 ||
           error_set(err, "check reads the files of the embedded store; "
                          "ClickHouse has CHECK TABLE");
}

int check_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct store_check_result result = {0};
    struct settings s;
    struct error err = {.text = ""};
    int rest, code = 1;

    if (!settings_read(&s, a, argv, argc, &rest, &err) ||
        !is_embedded(&s, &err) || !find_store(&s, a, &err)) {
        code = fail(&err);
    } else {
        bool ok =
            sqlite_store_check(arena_cstr(a, s.data), say, NULL, &result, &err);

        printf("%" PRIu64 " files, %" PRIu64 " segments, %" PRIu64
               " blocks, %" PRIu64 " profiles: %" PRIu64 " problems\n",
               result.files, result.segments, result.blocks, result.profiles,
               result.problems);
        code = ok ? 0 : err.text[0] ? fail(&err) : 1;
    }
    arena_free(a);
    return code;
}

/* --- stats ---------------------------------------------------------------- */

struct usage_row {
    struct str service, type;
    uint64_t profiles, posted, stored, stacks, names;
};

struct usage_table {
    struct arena *arena;
    VEC(struct usage_row) rows;
};

static bool add_row(void *arg, const struct store_usage *u)
{
    struct usage_table *t = arg;

    *vec_push(t->arena, &t->rows) =
        (struct usage_row){arena_str(t->arena, u->service),
                           arena_str(t->arena, u->type),
                           u->profiles,
                           u->posted_bytes,
                           u->stored_bytes,
                           u->stacks,
                           u->names};
    return true;
}

static int by_size(const void *left, const void *right)
{
    const struct usage_row *a = left, *b = right;

    return (a->stored < b->stored) - (a->stored > b->stored);
}

/* "12.3 MB" */
static void print_size(uint64_t bytes)
{
    static const char *const units[] = {"B ", "KB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;

    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    printf(unit ? " %9.1f %s" : " %9.0f %s", value, units[unit]);
}

static void print_table(struct usage_table *t)
{
    struct usage_row sum = {STR("total"), STR(""), 0, 0, 0, 0, 0};

    qsort(t->rows.v, t->rows.n, sizeof(*t->rows.v), by_size);
    printf("%12s %12s %10s %10s %10s  %s\n", "stored", "posted", "profiles",
           "stacks", "names", "service type");
    for (size_t i = 0; i <= t->rows.n; i++) {
        struct usage_row *r = i < t->rows.n ? &t->rows.v[i] : &sum;

        print_size(r->stored);
        print_size(r->posted);
        printf(" %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %" STR_FMT
               " %" STR_FMT "\n",
               r->profiles, r->stacks, r->names, STR_ARG(r->service),
               STR_ARG(r->type.n   ? r->type
                       : r != &sum ? STR("(names and stacks)")
                                   : STR("")));
        sum.profiles += r->profiles;
        sum.posted += r->posted;
        sum.stored += r->stored;
        sum.stacks += r->stacks;
        sum.names += r->names;
    }
}

int stats_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct usage_table table = {.arena = a};
    struct store *store = NULL;
    struct settings s;
    struct error err = {.text = ""};
    int rest, code = 0;

    if (settings_read(&s, a, argv, argc, &rest, &err))
        store = open_existing_store(&s, a, &err);
    if (!store || store_get_usage(store, add_row, &table, &err) != STORE_OK)
        code = fail(&err);
    else
        print_table(&table);
    store_close(store);
    arena_free(a);
    return code;
}

/* --- schema --------------------------------------------------------------- */

int schema_command(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct buf out = arena_buf(a);
    struct clickhouse_options o;
    struct settings s;
    struct error err = {.text = ""};
    int rest, code = 0;
    bool plain = argc > 0 && strcmp(argv[0], "--plain") == 0;

    if (!settings_read(&s, a, argv + plain, argc - plain, &rest, &err))
        code = fail(&err);
    if (!code && rest < argc - plain) {
        error_set(&err, "unexpected argument \"%s\"; see pprofd schema -h",
                  argv[plain + rest]);
        code = fail(&err);
    }
    o = clickhouse_options_of(&s, a);
    if (!code && !o.url.n)
        o.url = STR("clickhouse://localhost/default");
    if (!code && !clickhouse_schema(&o, plain, &out, &err))
        code = fail(&err);
    if (!code)
        fwrite(out.data, 1, out.len, stdout);
    arena_free(a);
    return code;
}
