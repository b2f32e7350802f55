/*
 * A warning and not an error: Kubernetes mounts secrets readable for all users,
 * in a container that has only one.
 */
#include "base/secret_file.h"

#include <stdio.h>
#include <sys/stat.h>

bool secret_file_is_exposed(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && (st.st_mode & (S_IRWXO | S_IWGRP)) != 0;
}

void secret_file_warn(const char *path,
                      void (*say)(void *arg, const char *words), void *arg)
{
    char words[512];

    if (!say || !secret_file_is_exposed(path))
        return;
    snprintf(words, sizeof(words),
             "%.400s: other users of this machine can read or change it; run "
             "chmod 600",
             path);
    say(arg, words);
}
