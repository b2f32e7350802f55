/*
 * What is loaded: unwind data that outlives its library, tables that are
 * built while libraries come and go.
 */
#include "test.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/pages.h"
#include "elf/cfi.h"
#include "runtime/unwind/modules.h"

struct taken {
    const char *name;
    const uint8_t *build_id; /* NULL: the right one */
    struct unwind_data frames;
    struct elf_view mapped, ours;
    bool found, ok;
};

static int take(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct taken *t = ctx;
    uint8_t id[ELF_BUILD_ID_MAX];
    struct frames_file file = {.path = info->dlpi_name,
                               .build_id = id,
                               .phdr = info->dlpi_phdr,
                               .n_phdr = info->dlpi_phnum};

    (void)size;
    if (!strstr(info->dlpi_name, t->name))
        return 0;
    t->found = true;
    elf_view_module(&t->mapped, info->dlpi_addr, info->dlpi_phdr,
                    info->dlpi_phnum);
    t->ours = t->mapped;
    file.build_id_n = elf_build_id(&t->mapped, id);
    if (t->build_id)
        file.build_id = t->build_id;
    t->ok = unwind_data_take(&t->frames, &t->ours, &file);
    return 1;
}

/* Where the bytes are is a matter of cost; what they are is not. */
static void same_bytes(struct taken *t)
{
    struct cfi a, b;

    EXPECT(t->found && t->ok);
    EXPECT(cfi_open(&a, &t->mapped) && cfi_open(&b, &t->ours));
    EXPECT(a.eh_frame == b.eh_frame && a.n_table == b.n_table);
    EXPECT(a.bytes != b.bytes && a.n_table > 0);
    EXPECT(memcmp(a.table, b.table, a.n_table * 8) == 0);
    EXPECT(memcmp(a.bytes + (a.eh_frame - a.vaddr),
                  b.bytes + (b.eh_frame - b.vaddr),
                  a.n - (a.eh_frame - a.vaddr)) == 0);
    pages_free(t->frames.p, t->frames.n);
}

TEST(unwind_data_is_mapped_from_the_file)
{
    struct taken t = {.name = "libc.so"};

    dl_iterate_phdr(take, &t);
    same_bytes(&t);
}

TEST(a_file_that_was_replaced_is_not_read)
{
    uint8_t other[ELF_BUILD_ID_MAX] = {1, 2, 3};
    struct taken t = {.name = "libc.so", .build_id = other};

    dl_iterate_phdr(take, &t);
    same_bytes(&t);
}

static const struct module *find_path(const struct modules *m, const char *name,
                                      bool is_loaded)
{
    for (size_t i = 0; i < m->n; i++)
        if (strstr(m->v[i].path, name) && m->v[i].is_loaded == is_loaded)
            return &m->v[i];
    return NULL;
}

#define LIBRARY "libBrokenLocale.so.1" /* of glibc, and nobody needs it */

TEST(a_library_may_go_while_its_table_is_built)
{
    static struct modules m;
    struct module_build job;
    const struct module *gone;
    void *library;

    EXPECT(modules_init(&m));
    modules_build_all(&m);
    library = dlopen(LIBRARY, RTLD_NOW);
    EXPECT(library != NULL);
    EXPECT(modules_refresh(&m) && modules_has_unbuilt(&m));
    EXPECT(modules_build_begin(&m, &job));
    dlclose(library);
    EXPECT(modules_refresh(&m));
    EXPECT(!find_path(&m, LIBRARY, true));
    modules_build_run(&job);
    modules_build_end(&m, &job);
    gone = find_path(&m, LIBRARY, false);
    EXPECT(gone && gone->table.n_rows > 0 && !gone->frames.p);
    EXPECT(!modules_has_unbuilt(&m));

    /* It comes back, here or elsewhere. */
    library = dlopen(LIBRARY, RTLD_NOW);
    EXPECT(modules_refresh(&m));
    modules_build_all(&m);
    EXPECT(find_path(&m, LIBRARY, true)->table.n_rows > 0);
    dlclose(library);
}

TEST_MAIN
