#ifndef RUNTIME_UNWIND_UNWIND_DATA_H
#define RUNTIME_UNWIND_UNWIND_DATA_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "elf/view.h"

/*
 * The bytes of a module's unwind data in memory of our own, so that they can
 * be read in handlers and by other threads while the program unloads the
 * module.
 *
 * Big ones are mapped from the module's file once more, which costs nothing
 * until a page is read; small ones, and those whose file is not there any
 * more or is another one by now, are copied.
 */
struct unwind_data {
    void *p;
    size_t n;
};

/* The description of a module that is needed to find its file. */
struct frames_file {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_n;
    const Elf64_Phdr *phdr;
    size_t n_phdr;
};

/* Called with the loader's lock held.  The view is the module's; when this
 * says true its only segment is in *f.  False: there is no unwind data, or
 * out of memory. */
bool unwind_data_take(struct unwind_data *f, struct elf_view *v,
                      const struct frames_file *file);

#endif
