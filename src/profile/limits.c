/*
 * The defaults are for a tool that reads its user's own files: they stop a
 * few bytes of gzip from filling the memory, and no honest profile reaches
 * them.  Servers pass smaller ones.
 */
#include "profile/limits.h"

const struct profile_limits profile_default_limits = {
    .input_bytes = (size_t)4 << 30,
    .inflated_bytes = (size_t)16 << 30,
    .samples = (size_t)1 << 32,
    .string_bytes = (size_t)4 << 30,
    .stack_depth = (size_t)1 << 24,
};
