/*
 * Runs a fuzz target over files, one after another, as an ordinary test: the
 * corpus is replayed with every compiler, not only with clang's libFuzzer.
 *
 *     replay-X FILE|DIRECTORY ...      prints TAP, a case a file
 *
 * A finding ends the program (that is how fuzz targets say it); the case that
 * is missing from the output is the one.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int cases, failures;

/* An allocation of exactly the size, so that ASan sees a byte too far. */
static void run_bytes(const char *name, struct str bytes)
{
    uint8_t *copy = malloc(bytes.n ? bytes.n : 1);

    printf("# %s\n", name);
    fflush(stdout);
    if (bytes.n)
        memcpy(copy, bytes.s, bytes.n);
    LLVMFuzzerTestOneInput(copy, bytes.n);
    printf("ok %d - %s\n", ++cases, name);
    free(copy);
}

static void run_file(const char *path)
{
    struct buf bytes = BUF_INIT(BUF_NO_LIMIT);
    struct error err;

    if (file_read(path, &bytes, &err)) {
        run_bytes(path, buf_str(&bytes));
    } else {
        printf("# %s\nnot ok %d - %s\n", err.text, ++cases, path);
        failures++;
    }
    buf_release(&bytes);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void run_directory(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, not_hidden, alphasort);

    for (int i = 0; i < n; i++) {
        char *file;

        if (asprintf(&file, "%s/%s", path, entries[i]->d_name) >= 0) {
            run_file(file);
            free(file);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    run_bytes("the empty input", STR(""));
    for (int i = 1; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            run_directory(argv[i]);
        else
            run_file(argv[i]);
    }
    printf("1..%d\n", cases);
    return failures != 0;
}
