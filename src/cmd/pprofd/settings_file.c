/*
 * Every setting is a key of its section's map.  Two things are more than
 * that: rules of retention for single services and types, and the jobs that
 * scrape, which their own reader understands.
 *
 *     retention:
 *       raw: 7d
 *       rules:
 *         - service: api
 *           type: heap
 *           raw: 2d
 *           max_bytes: 10GB
 */
#include "cmd/pprofd/settings_file.h"

#include "config/document.h"

static bool read_setting(struct settings *s, const struct node *section,
                         const struct setting *which, struct error *err)
{
    const struct node *value = node_get(section, which->key);
    struct error reason;

    if (!value)
        return true;
    if (value->kind != NODE_SCALAR)
        return node_fail(value, err, "must be a single value");
    if (setting_set(s, which, value->text, &reason))
        return true;
    return node_fail(value, err, "is wrong: %s", reason.text);
}

/* One rule; the ages that it leaves out are those of the section. */
static bool read_rule(const struct settings *s, const struct node *rule,
                      struct store_retention *out, struct error *err)
{
    *out = (struct store_retention){
        .max_age_ns = {[STORE_RAW] = s->keep_raw_ns,
                       [STORE_MINUTE] = s->keep_minute_ns,
                       [STORE_HOUR] = s->keep_hour_ns,
                       [STORE_DAY] = s->keep_day_ns}};
    return node_is_map(rule, err) &&
           node_text(rule, "service", &out->service, err) &&
           node_text(rule, "type", &out->type, err) &&
           node_duration(rule, "raw", &out->max_age_ns[STORE_RAW], err) &&
           node_duration(rule, "minute", &out->max_age_ns[STORE_MINUTE], err) &&
           node_duration(rule, "hour", &out->max_age_ns[STORE_HOUR], err) &&
           node_duration(rule, "day", &out->max_age_ns[STORE_DAY], err) &&
           node_bytes(rule, "max_bytes", &out->max_bytes, err) &&
           node_check_keys(rule, err);
}

static bool read_rules(struct settings *s, struct arena *a,
                       const struct node *retention, struct error *err)
{
    const struct node *rules = NULL;

    if (!node_list(retention, "rules", &rules, err))
        return false;
    if (!rules)
        return true;
    s->retention = arena_new_array(a, struct store_retention, rules->n + 1);
    for (size_t i = 0; i < rules->n; i++)
        if (!read_rule(s, rules->items[i], &s->retention[i], err))
            return false;
    s->n_retention = rules->n;
    return true;
}

static bool read_section(struct settings *s, struct arena *a,
                         const struct node *root, const char *name,
                         struct error *err)
{
    const struct node *section = NULL;

    if (!node_map(root, name, &section, err))
        return false;
    if (!section)
        return true;
    for (size_t i = 0; i < settings_n; i++)
        if (strcmp(settings_table[i].section, name) == 0 &&
            !read_setting(s, section, &settings_table[i], err))
            return false;
    if (strcmp(name, "retention") == 0 && !read_rules(s, a, section, err))
        return false;
    return node_check_keys(section, err);
}

bool settings_read_file(struct settings *s, struct arena *a, const char *path,
                        struct error *err)
{
    const struct node *root =
        document_read_file(a, path, &document_default_limits, err);

    if (!root)
        return false;
    for (size_t i = 0; i < settings_n; i++)
        if ((i == 0 || strcmp(settings_table[i].section,
                              settings_table[i - 1].section) != 0) &&
            !read_section(s, a, root, settings_table[i].section, err))
            return false;
    /* The jobs are read by collector/scrape; Parca's files say where its
     * profiles and, in older ones, debug information are kept, which is of
     * no use here. */
    node_ignore(root, "scrape_configs");
    node_ignore(root, "global");
    node_ignore(root, "object_storage");
    node_ignore(root, "debug_info");
    return node_check_keys(root, err);
}
