#ifndef CONFIG_DOCUMENT_H
#define CONFIG_DOCUMENT_H

#include "config/getters.h"
#include "config/limits.h"
#include "config/node.h"
#include "config/node_error.h"

/*
 * Configuration files and large JSON documents as a tree.
 *
 * YAML is read by libyaml, JSON by Jansson; what they give is copied into one
 * kind of tree in the caller's arena, so that the rest of the program knows
 * neither.  Not for libpprof, which has base/json_view.h.
 *
 *     const struct node *root = document_read_yaml(a, source, limits, &err);
 *     int64_t interval_ns = 60 * SECOND_NS;        // the default
 *     uint64_t budget = 64 << 20;
 *
 *     return root && node_duration(root, "interval", &interval_ns, &err) &&
 *            node_bytes(root, "memory", &budget, &err) &&
 *            node_check_keys(root, &err);
 *
 * A getter looks for a key of a map.  If the key is absent, or has no value,
 * the getter returns true and leaves *out as it is: so defaults are what the
 * variable had before.  A value of the wrong kind is an error that says where
 * it is and what to write instead:
 *
 *     pprofd.yaml:12:13: interval must be a duration: write 30s, 5m or 1h30m
 *
 * After all getters, node_check_keys() refuses keys that nobody asked for and
 * suggests the one that was probably meant.
 *
 * Every node of a YAML file knows its line and column.  Jansson keeps none
 * beyond syntax errors, so a node of a JSON document is named by its path:
 * `pods.json: items[3].metadata.name must be a text`.
 *
 * Input is not trusted: size, depth and number of nodes are limited, and a YAML
 * alias counts as all the nodes that it stands for.
 */
/* The root, from `a`; an empty file is a map without keys.  NULL: no such
 * document, *err says why and where. */
const struct node *document_read_yaml(struct arena *a,
                                      struct document_source source,
                                      const struct document_limits *limits,
                                      struct error *err);
const struct node *document_read_json(struct arena *a,
                                      struct document_source source,
                                      const struct document_limits *limits,
                                      struct error *err);

/* Reads a file: as JSON if its name ends in .json, else as YAML. */
const struct node *document_read_file(struct arena *a, const char *path,
                                      const struct document_limits *limits,
                                      struct error *err);

#endif
