#ifndef CMD_PPROFD_OPEN_STORE_H
#define CMD_PPROFD_OPEN_STORE_H

#include "cmd/pprofd/settings.h"
#include "store/clickhouse/clickhouse.h"

/* Opens the store that the settings name, for `serve`.  NULL and err when it
 * cannot be opened. */
struct store *open_store(const struct settings *s, struct arena *a,
                         struct error *err);

/* The same for commands that work on a store without a server: nothing expires
 * meanwhile, since they are often called without the settings of the server. */
struct store *open_kept_store(const struct settings *s, struct arena *a,
                              struct error *err);

/* The same for commands that only read: a directory or database without a
 * store is an error, and nothing is created there. */
struct store *open_existing_store(const struct settings *s, struct arena *a,
                                  struct error *err);

/* Returns true if there is a store in the directory; otherwise err names the
 * directory. */
bool find_store(const struct settings *s, struct arena *a, struct error *err);

/* Applies the retention rules of reloaded settings. */
bool change_retention(struct store *store, const struct settings *s,
                      struct error *err);

/* Without the password and what the engines have in common. */
struct clickhouse_options clickhouse_options_of(const struct settings *s,
                                                struct arena *a);

#endif
