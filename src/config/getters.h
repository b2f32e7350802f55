#ifndef CONFIG_GETTERS_H
#define CONFIG_GETTERS_H

#include "config/node.h"

/*
 * Reading values; config/document.h has the manual.
 */

/* --- values of a map ------------------------------------------------------ */

/* The value of a key, or NULL if it is absent or null. */
const struct node *node_get(const struct node *map, const char *key);

bool node_text(const struct node *map, const char *key, struct str *out,
               struct error *err);
bool node_bool(const struct node *map, const char *key, bool *out,
               struct error *err); /* true or false */
bool node_int(const struct node *map, const char *key, int64_t min, int64_t max,
              int64_t *out, struct error *err);
bool node_float(const struct node *map, const char *key, double *out,
                struct error *err);

/* "30s", "1h30m", "1.5h", "100ms", "7d", "2w"; 0 needs no unit. */
bool node_duration(const struct node *map, const char *key, int64_t *ns,
                   struct error *err);

/* "512", "64KB", "1.5GiB": K, M, G and T are powers of 1024, with or without
 * "B" or "iB". */
bool node_bytes(const struct node *map, const char *key, uint64_t *out,
                struct error *err);

/* One of the words, NULL-terminated; *out is its place. */
bool node_choice(const struct node *map, const char *key,
                 const char *const *words, size_t *out, struct error *err);

bool node_list(const struct node *map, const char *key, const struct node **out,
               struct error *err);
bool node_map(const struct node *map, const char *key, const struct node **out,
              struct error *err);

/* A list of texts; a single text counts as a list of one. */
struct node_texts {
    VEC(struct str) list;
};
bool node_text_list(const struct node *map, const char *key, struct arena *a,
                    struct node_texts *out, struct error *err);

/* Marks the key as known without reading it. */
void node_ignore(const struct node *map, const char *key);

/* False: a key that no getter asked for. */
bool node_check_keys(const struct node *map, struct error *err);

/* --- single nodes --------------------------------------------------------- */

/* The same for a node that is at hand: an item of a list, a value. */
bool node_is_text(const struct node *n, struct str *out, struct error *err);
bool node_is_duration(const struct node *n, int64_t *ns, struct error *err);
bool node_is_bytes(const struct node *n, uint64_t *out, struct error *err);
bool node_is_map(const struct node *n, struct error *err);
bool node_is_list(const struct node *n, struct error *err);

#endif
