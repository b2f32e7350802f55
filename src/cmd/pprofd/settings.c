/*
 * The command line, what depends on several settings, and printing.
 * settings_table.c has the table, settings_file.c reads the file.
 *
 * Flags have Go's syntax, and those of profefe are accepted: what they mean
 * here is in `profefe_flags`.
 */
#include "cmd/pprofd/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/size_text.h"
#include "base/time_text.h"
#include "cmd/flags.h"
#include "cmd/pprofd/settings_file.h"
#include "config/suggest.h"

/* --- values --------------------------------------------------------------- */

static bool set_defaults(struct settings *s, struct error *err)
{
    *s = (struct settings){0};
    for (size_t i = 0; i < settings_n; i++)
        if (!setting_set(s, &settings_table[i],
                         str_from(settings_table[i].fallback), err))
            return false;
    return true;
}

bool settings_have_guard(const struct settings *s)
{
    return s->client_ca.n || s->token_file.n || s->kubernetes;
}

/* $STATE_DIRECTORY is what systemd made for a service. */
static struct str default_data(struct arena *a)
{
    const char *state = getenv("STATE_DIRECTORY");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");

    if (state && *state)
        return arena_str(a, str_from(state));
    if (data && *data)
        return str_from(arena_printf(a, "%s/pprofd", data));
    if (home && *home && getuid() != 0)
        return str_from(arena_printf(a, "%s/.local/share/pprofd", home));
    return STR("/var/lib/pprofd");
}

/* --- flags ---------------------------------------------------------------- */

/* profefe's flags, and the setting that each one stands for; NULL: accepted and
 * without meaning here.  A flag that names another place for the profiles is
 * refused: if it were ignored, the profiles would be in an unexpected place. */
static const struct {
    const char *flag, *key;
    bool is_switch, is_place;
} profefe_flags[] = {
    {"badger.dir", "data"},
    {"badger.data-ttl", "raw"},
    {"badger.gc-interval", NULL},
    {"badger.gc-discard-ratio", NULL},
    {"log.format", NULL},
    {"storage-type", NULL},
    {"s3.bucket", NULL, .is_place = true},
    {"s3.region", NULL},
    {"s3.endpoint-url", NULL},
    {"s3.disable-ssl", NULL, .is_switch = true},
    {"s3.max-retries", NULL},
    {"gcs.bucket", NULL, .is_place = true},
    {"gcs.max-retries", NULL},
    {"clickhouse.dsn", NULL, .is_place = true},
    {"clickhouse.samples-writer.pool-size", NULL},
    {"profefe.agent.collector-addr", NULL},
    {"profefe.agent.service-name", NULL},
    {"profefe.agent.labels", NULL},
    {"profefe.agent.read-interval", NULL},
    {"profefe.agent.enable-cpu-profile", NULL},
    {"profefe.agent.enable-heap-profile", NULL},
    {"profefe.agent.enable-block-profile", NULL},
    {"profefe.agent.enable-mutex-profile", NULL},
    {"profefe.agent.enable-goroutine-profile", NULL},
    {"profefe.agent.enable-thread-creation-profile", NULL},
};

enum { N_PROFEFE = sizeof(profefe_flags) / sizeof(profefe_flags[0]) };

static const struct setting *find_setting(const char *key)
{
    for (size_t i = 0; i < settings_n; i++)
        if (strcmp(settings_table[i].key, key) == 0)
            return &settings_table[i];
    return NULL;
}

/* What the command line says, as text; applied after the file. */
struct given {
    struct str config;
    struct str *texts; /* by number in settings_table */
    bool *switches;
    struct str profefe[N_PROFEFE];
    bool profefe_switches[N_PROFEFE];
};

/* What is on already can only be switched off: --scrape-self=false. */
static bool is_switch(const struct setting *s)
{
    return s->kind == SETTING_BOOL && strcmp(s->fallback, "false") == 0;
}

/* Adds the flag that was probably meant, if the word is an unknown flag. */
static void suggest_flag(const struct flag *flags, size_t n, struct arena *a,
                         struct str word, struct error *err)
{
    const char **names = arena_new_array(a, const char *, n);
    const char *meant;
    ptrdiff_t equals;

    while (str_has_prefix(word, STR("-")))
        word = str_skip(word, 1);
    equals = str_find_char(word, '=');
    if (equals >= 0)
        word = str_first(word, (size_t)equals);
    for (size_t i = 0; i < n; i++) {
        if (str_eq(flags[i].name, word))
            return;
        names[i] = arena_cstr(a, flags[i].name);
    }
    meant = suggest_word(word, names, n);
    if (meant)
        error_set(err, "there is no flag -%" STR_FMT "; did you mean -%s?",
                  STR_ARG(word), meant);
    else
        error_set(err, "there is no flag -%" STR_FMT "; see pprofd -h",
                  STR_ARG(word));
}

static enum flags_result parse_flags(struct given *g, struct arena *a,
                                     char *const *words, int n, int *rest,
                                     struct error *err)
{
    struct flag *flags =
        arena_new_array(a, struct flag, settings_n + N_PROFEFE + 1);
    enum flags_result result;
    size_t count = 0;

    g->texts = arena_new_array(a, struct str, settings_n);
    g->switches = arena_new_array(a, bool, settings_n);
    flags[count++] = (struct flag){STR("config"), FLAG_TEXT, &g->config};
    for (size_t i = 0; i < settings_n; i++) {
        const struct setting *s = &settings_table[i];

        if (s->flag && is_switch(s))
            flags[count++] =
                (struct flag){str_from(s->flag), FLAG_BOOL, &g->switches[i]};
        else if (s->flag)
            flags[count++] =
                (struct flag){str_from(s->flag), FLAG_TEXT, &g->texts[i]};
    }
    for (size_t i = 0; i < N_PROFEFE; i++) {
        struct str name = str_from(profefe_flags[i].flag);

        if (profefe_flags[i].is_switch)
            flags[count++] =
                (struct flag){name, FLAG_BOOL, &g->profefe_switches[i]};
        else
            flags[count++] = (struct flag){name, FLAG_TEXT, &g->profefe[i]};
    }
    result = flags_parse(flags, count, a, words, n, rest, err);
    if (result == FLAGS_BAD && *rest < n)
        suggest_flag(flags, count, a, str_from(words[*rest]), err);
    return result;
}

/* Returns true if the flag would store profiles in another place than the
 * directory. */
static bool check_place(const char *flag, bool is_place, struct str value,
                        struct error *err)
{
    if (strcmp(flag, "storage-type") == 0)
        is_place = !str_eq(value, STR("auto")) && !str_eq(value, STR("badger"));
    if (!is_place || value.n == 0)
        return true;
    return error_set(err,
                     "-%s=%" STR_FMT ": profefe's other storages are not "
                     "supported; remove the flag and name a directory for the "
                     "profiles with --data",
                     flag, STR_ARG(value));
}

/* Notes the flags that were given and change nothing. */
static bool read_ignored(struct settings *s, const struct given *g,
                         struct arena *a, struct error *err)
{
    struct buf list = arena_buf(a);

    for (size_t i = 0; i < N_PROFEFE; i++) {
        const char *flag = profefe_flags[i].flag;

        if (profefe_flags[i].key ||
            (g->profefe[i].n == 0 && !g->profefe_switches[i]))
            continue;
        if (!check_place(flag, profefe_flags[i].is_place, g->profefe[i], err))
            return false;
        if (strcmp(flag, "storage-type") != 0)
            buf_addf(&list, "%s-%s", list.len ? " " : "", flag);
    }
    s->ignored_flags = buf_str(&list);
    return true;
}

static bool apply_flags(struct settings *s, const struct given *g,
                        struct error *err)
{
    for (size_t i = 0; i < settings_n; i++) {
        struct str text = g->switches[i] ? STR("true") : g->texts[i];

        if (text.n > 0 && !setting_set(s, &settings_table[i], text, err))
            return false;
    }
    for (size_t i = 0; i < N_PROFEFE; i++) {
        const struct setting *which =
            profefe_flags[i].key ? find_setting(profefe_flags[i].key) : NULL;

        if (which && g->profefe[i].n > 0 &&
            !setting_set(s, which, g->profefe[i], err))
            return false;
    }
    return true;
}

/* --- all together --------------------------------------------------------- */

static void add_default_rule(struct settings *s, struct arena *a)
{
    struct store_retention *rules =
        arena_new_array(a, struct store_retention, s->n_retention + 1);

    if (s->n_retention > 0)
        memcpy(rules, s->retention, s->n_retention * sizeof(*rules));
    rules[s->n_retention] = (struct store_retention){
        .max_age_ns = {[STORE_RAW] = s->keep_raw_ns,
                       [STORE_MINUTE] = s->keep_minute_ns,
                       [STORE_HOUR] = s->keep_hour_ns,
                       [STORE_DAY] = s->keep_day_ns}};
    s->retention = rules;
    s->n_retention++;
}

/* Settings of the store on ClickHouse mean nothing for the embedded one. */
static bool check_store(const struct settings *s, struct error *err)
{
    if ((s->store_cert.n == 0) != (s->store_key.n == 0))
        return error_set(err, "storage.store_cert and storage.store_key: give "
                              "both or none");
    if (s->batch_profiles == 0)
        return error_set(err, "storage.batch_profiles: must be at least 1");
    if (s->store.n > 0)
        return true;
    if (s->wal.n > 0 || s->cluster.n > 0 || s->store_ca.n > 0 ||
        s->store_cert.n > 0 || s->store_password_file.n > 0)
        return error_set(err, "wal, cluster, store_ca, store_cert and "
                              "store_password_file need storage.store, the "
                              "URL of a ClickHouse server");
    return true;
}

/* What depends on other settings, or must fit together. */
static bool complete(struct settings *s, struct arena *a, struct error *err)
{
    enum log_level level;

    if (s->data.n == 0)
        s->data = default_data(a);
    if (s->address.n == 0)
        s->address = settings_have_guard(s) || s->insecure
                         ? STR(":10100")
                         : STR("127.0.0.1:10100");
    if (!log_level_parse(s->log_level, &level))
        return error_set(err,
                         "log.level: \"%" STR_FMT
                         "\" is none of debug, info, warn, error",
                         STR_ARG(s->log_level));
    if ((s->tls_cert.n == 0) != (s->tls_key.n == 0))
        return error_set(err, "listen.tls_cert and listen.tls_key: give both "
                              "or none");
    if (s->client_ca.n > 0 && s->tls_cert.n == 0)
        return error_set(err, "listen.client_ca: needs tls_cert and tls_key");
    add_default_rule(s, a);
    return check_store(s, err);
}

bool settings_read(struct settings *out, struct arena *a, char *const *words,
                   int n, int *rest, struct error *err)
{
    struct given given = {0};
    struct arena *flag_arena = a;

    if (parse_flags(&given, flag_arena, words, n, rest, err) != FLAGS_OK)
        return false;
    if (!set_defaults(out, err))
        return false;
    if (given.config.n > 0 &&
        !settings_read_file(out, a, arena_cstr(a, given.config), err))
        return false;
    return apply_flags(out, &given, err) && read_ignored(out, &given, a, err) &&
           complete(out, a, err);
}

const char *settings_file_name(char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        struct str word = str_from(words[i]);

        while (str_has_prefix(word, STR("-")))
            word = str_skip(word, 1);
        if (str_has_prefix(word, STR("config=")))
            return word.s + 7;
        if (str_eq(word, STR("config")) && i + 1 < n)
            return words[i + 1];
    }
    return NULL;
}

/* --- printing ------------------------------------------------------------- */

static void add_value(struct buf *out, const struct settings *s,
                      const struct setting *which)
{
    const void *at = (const char *)s + which->offset;

    switch (which->kind) {
    case SETTING_TEXT:
        buf_addf(out, "\"%" STR_FMT "\"", STR_ARG(*(const struct str *)at));
        break;
    case SETTING_BOOL:
        buf_addf(out, "%s", *(const bool *)at ? "true" : "false");
        break;
    case SETTING_COUNT:
        buf_addf(out, "%" PRIu64, *(const uint64_t *)at);
        break;
    case SETTING_BYTES:
        size_add(out, *(const uint64_t *)at);
        break;
    case SETTING_DURATION:
        duration_add(out, *(const int64_t *)at);
        break;
    }
}

void settings_write(const struct settings *s, struct buf *out)
{
    const char *section = "";

    for (size_t i = 0; i < settings_n; i++) {
        const struct setting *which = &settings_table[i];

        if (strcmp(section, which->section) != 0) {
            section = which->section;
            buf_addf(out, "%s%s:\n", i > 0 ? "\n" : "", section);
        }
        buf_addf(out, "  # %s\n", which->meaning);
        buf_addf(out, "  %s: ", which->key);
        add_value(out, s, which);
        buf_add_char(out, '\n');
    }
}
