/*
 * cmd/flags.h has Go's syntax, where flags end at the first other word.  Users
 * of `kubectl` expect kubectl's syntax: `kubectl pprof top web-1 -n demo`.
 *
 * Flags that choose a cluster or a user are not interpreted but passed to every
 * kubectl.
 */
#include "cmd/kubectl-pprof/arguments.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "cmd/pprof/command.h"
#include "config/suggest.h"
#include "report/config.h"

enum kind { TEXT, NUMBER, SWITCH, FOR_KUBECTL, SWITCH_FOR_KUBECTL };

struct flag_row {
    const char *name;
    char letter; /* 0: it has no short form */
    enum kind kind;
    size_t offset;
};

#define AT(member) offsetof(struct arguments, member)

static const struct flag_row rows[] = {
    {"namespace", 'n', TEXT, AT(namespace_name)},
    {"all-namespaces", 'A', SWITCH, AT(all_namespaces)},
    {"selector", 'l', TEXT, AT(selector)},
    {"annotated", 0, SWITCH, AT(annotated)},
    {"container", 'c', TEXT, AT(container)},
    {"profile", 'p', TEXT, AT(profile)},
    {"profiles", 0, TEXT, AT(profiles)},
    {"seconds", 0, NUMBER, AT(seconds)},
    {"port", 0, NUMBER, AT(port)},
    {"scheme", 0, TEXT, AT(scheme)},
    {"path", 0, TEXT, AT(path)},
    {"via", 0, TEXT, AT(via)},
    {"cert-secret", 0, TEXT, AT(cert_secret)},
    {"server-name", 0, TEXT, AT(server_name)},
    {"token-file", 0, TEXT, AT(token_file)},
    {"preset", 0, TEXT, AT(preset)},
    {"output", 'o', TEXT, AT(output)},
    {"output-dir", 0, TEXT, AT(output)}, /* kubectl-profefe's names */
    {"collector", 0, TEXT, AT(collector)},
    {"profefe-hostport", 0, TEXT, AT(collector)},
    {"collector-token-file", 0, TEXT, AT(collector_token_file)},
    {"service", 0, TEXT, AT(service)},
    {"from", 0, TEXT, AT(from)},
    {"to", 0, TEXT, AT(to)},
    {"type", 0, TEXT, AT(type)},
    {"profile-type", 0, TEXT, AT(type)},
    {"base", 0, TEXT, AT(base)},
    {"ago", 0, TEXT, AT(ago)},
    {"mtls", 0, SWITCH, AT(mtls)},
    {"native", 0, SWITCH, AT(native)},
    {"push", 0, SWITCH, AT(push)},
    {"image", 0, TEXT, AT(image)},
    {"debug", 0, SWITCH, AT(debug)},
    {"verbose", 'v', SWITCH, AT(verbose)},
    {"yes", 'y', SWITCH, AT(yes)},
    {"help", 'h', SWITCH, AT(help)},
    {"context", 0, FOR_KUBECTL, 0},
    {"kubeconfig", 0, FOR_KUBECTL, 0},
    {"cluster", 0, FOR_KUBECTL, 0},
    {"user", 0, FOR_KUBECTL, 0},
    {"server", 's', FOR_KUBECTL, 0},
    {"token", 0, FOR_KUBECTL, 0},
    {"as", 0, FOR_KUBECTL, 0},
    {"as-group", 0, FOR_KUBECTL, 0},
    {"as-uid", 0, FOR_KUBECTL, 0},
    {"certificate-authority", 0, FOR_KUBECTL, 0},
    {"client-certificate", 0, FOR_KUBECTL, 0},
    {"client-key", 0, FOR_KUBECTL, 0},
    {"tls-server-name", 0, FOR_KUBECTL, 0},
    {"request-timeout", 0, FOR_KUBECTL, 0},
    {"cache-dir", 0, FOR_KUBECTL, 0},
    {"insecure-skip-tls-verify", 0, SWITCH_FOR_KUBECTL, 0},
};

#define N_ROWS (sizeof(rows) / sizeof(*rows))

/* A flag as it was written. */
struct given {
    const struct flag_row *row;
    const char *value; /* NULL: none was attached to it */
};

static const struct flag_row *find_long(struct str name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (str_eq(name, str_from(rows[i].name)))
            return &rows[i];
    return NULL;
}

static const struct flag_row *find_short(char letter)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

/* -cum would be container "um", -nodecount=5 namespace "odecount=5". */
static bool is_of_pprof(struct str name)
{
    return command_find(name) || config_find(name) ||
           str_eq(name, STR("http")) || str_eq(name, STR("base")) ||
           str_eq(name, STR("diff_base")) || str_eq(name, STR("symbolize"));
}

static bool complain(const char *word, struct str name, struct error *err)
{
    const char *names[N_ROWS], *near;

    for (size_t i = 0; i < N_ROWS; i++)
        names[i] = rows[i].name;
    near = suggest_word(name, names, N_ROWS);
    if (near)
        return error_set(err, "unknown flag %s; did you mean --%s?", word,
                         near);
    return error_set(err, "unknown flag %s; see kubectl pprof --help", word);
}

static bool read_flag(const char *word, struct given *out, struct error *err)
{
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    bool is_long = word[1] == '-';
    struct str name = str_skip(str_of(word, n), is_long ? 2 : 1);

    if (is_long) {
        out->row = find_long(name);
        out->value = equals ? equals + 1 : NULL;
    } else {
        if (name.n > 1 && is_of_pprof(name))
            return error_set(err,
                             "%s is a flag of pprof: put it after \"--\", as "
                             "in kubectl pprof top NAME -- %s",
                             word, word);
        out->row = find_short(word[1]);
        out->value = word[2] == '\0' ? NULL : word + 2 + (word[2] == '=');
    }
    return out->row || complain(word, name, err);
}

/* 30, 30s, 2m */
static bool set_seconds(struct arguments *args, const struct given *g,
                        struct error *err)
{
    struct error ignored;
    int64_t ns;

    if (!duration_parse(str_from(g->value), &ns, &ignored) || ns < SECOND ||
        ns > 65535 * SECOND || ns % SECOND)
        return error_set(err, "--%s %s: must be 1 to 65535 seconds",
                         g->row->name, g->value);
    args->seconds = (int)(ns / SECOND);
    return true;
}

static bool set_number(struct arguments *args, const struct given *g,
                       struct error *err)
{
    uint64_t n;

    if (g->row->offset == AT(seconds))
        return set_seconds(args, g, err);
    if (!str_to_u64(str_from(g->value), 10, &n) || n == 0 || n > 65535)
        return error_set(err, "--%s %s: must be a number from 1 to 65535",
                         g->row->name, g->value);
    args->port = (unsigned)n;
    return true;
}

static bool set_switch(struct arguments *args, struct arena *a,
                       const struct given *g, struct error *err)
{
    bool on = !g->value || strcmp(g->value, "true") == 0;

    if (g->value && !on && strcmp(g->value, "false") != 0)
        return error_set(err, "--%s takes no value", g->row->name);
    if (g->row->kind == SWITCH)
        *(bool *)((char *)args + g->row->offset) = on;
    else if (on)
        *vec_push(a, &args->kubectl_flags.list) =
            arena_printf(a, "--%s", g->row->name);
    return true;
}

static bool apply(struct arguments *args, struct arena *a,
                  const struct given *g, struct error *err)
{
    switch (g->row->kind) {
    case TEXT:
        *(const char **)((char *)args + g->row->offset) = g->value;
        return true;
    case NUMBER:
        return set_number(args, g, err);
    case FOR_KUBECTL:
        *vec_push(a, &args->kubectl_flags.list) =
            arena_printf(a, "--%s=%s", g->row->name, g->value);
        return true;
    default:
        return set_switch(args, a, g, err);
    }
}

static bool is_type(const char *word)
{
    static const char *const types[] = {
        "po",  "pod",          "pods",        "deploy",     "deployment",
        "sts", "deployments",  "statefulset", "ds",         "daemonset",
        "rs",  "statefulsets", "daemonsets",  "replicaset", "replicasets",
        "svc", "service",      "services",    "job",        "jobs"};

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (strcmp(word, types[i]) == 0)
            return true;
    return false;
}

/* `deploy web`, as in kubectl get, is deploy/web. */
static void join_type(struct arguments *args, struct arena *a)
{
    const char **names = args->names.list.v;
    size_t n = args->names.list.n;

    if (n < 2 || !is_type(names[0]) || strcmp(args->command, "get") == 0 ||
        strcmp(args->command, "load") == 0)
        return;
    for (size_t i = 1; i < n; i++)
        names[i] = arena_printf(a, "%s/%s", names[0], names[i]);
    memmove(names, names + 1, (n - 1) * sizeof(*names));
    args->names.list.n--;
}

bool arguments_parse(struct arguments *out, struct arena *a, int argc,
                     char *const *argv, struct error *err)
{
    *out = (struct arguments){.seconds = 30};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        struct given g = {0};

        if (strcmp(word, "--") == 0) {
            while (++i < argc)
                *vec_push(a, &out->others.list) = argv[i];
            break;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (out->command)
                *vec_push(a, &out->names.list) = word;
            else
                out->command = word;
            continue;
        }
        if (!read_flag(word, &g, err))
            return false;
        bool wants = g.row->kind == TEXT || g.row->kind == NUMBER ||
                     g.row->kind == FOR_KUBECTL;
        if (wants && !g.value) {
            if (++i == argc)
                return error_set(err, "%s needs a value", word);
            g.value = argv[i];
        }
        if (!apply(out, a, &g, err))
            return false;
    }
    join_type(out, a);
    return true;
}

enum way_kind arguments_way(const struct arguments *args, struct error *err)
{
    const char *via = args->via;

    err->text[0] = '\0';
    if (!via)
        return WAY_ANY;
    for (enum way_kind k = WAY_FORWARD; k <= WAY_EXEC; k++)
        if (strcmp(via, way_name(k)) == 0)
            return k;
    error_set(err, "--via %s: must be port-forward, proxy or exec", via);
    return WAY_ANY;
}
