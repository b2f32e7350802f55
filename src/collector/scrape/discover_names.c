/*
 * Targets from DNS: SRV records by the resolver library, addresses by
 * getaddrinfo(), which also knows /etc/hosts.  If one name cannot be looked
 * up, all targets stay as they were.  A nameserver of the configuration is
 * asked for all kinds of records by the resolver library.
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "collector/scrape/discoveries.h"
#include "collector/scrape/refresh.h"

#define MAX_ANSWER  65536
#define MAX_RECORDS 10000

struct names {
    const struct keys_dns_sd *config;
    struct arena *arena;        /* of last */
    struct scrape_targets last; /* what was found before */
    bool has_last;
};

static struct label_set *add(struct scrape_targets *out, struct arena *a,
                             struct str name, const char *address)
{
    struct label_set *t = vec_push(a, &out->list);

    *t = (struct label_set){0};
    label_set_put(a, t, STR("__address__"), str_from(address));
    label_set_put(a, t, STR("__meta_dns_name"), name);
    return t;
}

/* --- by the resolver library ---------------------------------------------- */

/* What is asked of a DNS server. */
struct question {
    struct str name;
    ns_type type;
    unsigned port;              /* of A and AAAA */
    struct sockaddr_in *server; /* NULL: those of resolv.conf */
};

static void add_service(const struct question *q, const ns_msg *message,
                        const unsigned char *data, struct arena *a,
                        struct scrape_targets *out)
{
    unsigned port = ns_get16(data + 4);
    char host[NS_MAXDNAME];
    struct label_set *t;

    if (dn_expand(ns_msg_base(*message), ns_msg_end(*message), data + 6, host,
                  sizeof(host)) < 0)
        return;
    t = add(out, a, q->name, arena_printf(a, "%s:%u", host, port));
    label_set_put(a, t, STR("__meta_dns_srv_record_target"),
                  str_from(arena_printf(a, "%s.", host)));
    label_set_put(a, t, STR("__meta_dns_srv_record_port"),
                  str_from(arena_printf(a, "%u", port)));
}

static void add_record(const struct question *q, const ns_msg *message,
                       const ns_rr *rr, struct arena *a,
                       struct scrape_targets *out)
{
    char text[INET6_ADDRSTRLEN];

    if (ns_rr_type(*rr) != q->type)
        return;
    if (q->type == ns_t_srv && ns_rr_rdlen(*rr) >= 7)
        add_service(q, message, ns_rr_rdata(*rr), a, out);
    else if (q->type == ns_t_a && ns_rr_rdlen(*rr) == 4 &&
             inet_ntop(AF_INET, ns_rr_rdata(*rr), text, sizeof(text)))
        add(out, a, q->name, arena_printf(a, "%s:%u", text, q->port));
    else if (q->type == ns_t_aaaa && ns_rr_rdlen(*rr) == 16 &&
             inet_ntop(AF_INET6, ns_rr_rdata(*rr), text, sizeof(text)))
        add(out, a, q->name, arena_printf(a, "[%s]:%u", text, q->port));
}

static bool read_records(const struct question *q, const unsigned char *answer,
                         int n, struct arena *a, struct scrape_targets *out,
                         struct error *err)
{
    ns_msg message;
    ns_rr rr;

    if (ns_initparse(answer, n, &message) != 0)
        return error_set(err, "lookup %" STR_FMT ": the answer is malformed",
                         STR_ARG(q->name));
    for (int i = 0; i < ns_msg_count(message, ns_s_an) && i < MAX_RECORDS; i++)
        if (ns_parserr(&message, ns_s_an, i, &rr) == 0)
            add_record(q, &message, &rr, a, out);
    return true;
}

/* As in Prometheus, a name that does not exist has no targets. */
static bool ask(const struct question *q, struct arena *a,
                struct scrape_targets *out, struct error *err)
{
    unsigned char *answer = arena_alloc(a, MAX_ANSWER);
    struct __res_state state;
    int n, host_error;

    memset(&state, 0, sizeof(state));
    if (res_ninit(&state) != 0)
        return error_set(err, "the resolver cannot be initialised");
    if (q->server) {
        state.nscount = 1;
        state.nsaddr_list[0] = *q->server;
    }
    n = res_nsearch(&state, arena_cstr(a, q->name), ns_c_in, (int)q->type,
                    answer, MAX_ANSWER);
    host_error = state.res_h_errno;
    res_nclose(&state);
    if (n < 0 && (host_error == NO_DATA || host_error == HOST_NOT_FOUND))
        return true;
    if (n < 0)
        return error_set(err, "lookup %" STR_FMT ": %s", STR_ARG(q->name),
                         hstrerror(host_error));
    return read_records(q, answer, n < MAX_ANSWER ? n : MAX_ANSWER, a, out,
                        err);
}

/* --- by getaddrinfo() ----------------------------------------------------- */

static bool look_up_address(struct str name, int family, unsigned port,
                            struct arena *a, struct scrape_targets *out,
                            struct error *err)
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char text[INET6_ADDRSTRLEN];
    int rc = getaddrinfo(arena_cstr(a, name), NULL, &hints, &list);

    if (rc == EAI_NODATA || rc == EAI_NONAME)
        return true;
    if (rc != 0)
        return error_set(err, "lookup %" STR_FMT ": %s", STR_ARG(name),
                         gai_strerror(rc));
    for (struct addrinfo *i = list; i; i = i->ai_next) {
        const void *address =
            family == AF_INET
                ? (const void *)&((struct sockaddr_in *)i->ai_addr)->sin_addr
                : &((struct sockaddr_in6 *)i->ai_addr)->sin6_addr;

        if (inet_ntop(family, address, text, sizeof(text)))
            add(out, a, name,
                arena_printf(a, family == AF_INET ? "%s:%u" : "[%s]:%u", text,
                             port));
    }
    freeaddrinfo(list);
    return true;
}

/* --- both ----------------------------------------------------------------- */

static int by_address(const void *x, const void *y)
{
    const struct label_set *a = x, *b = y;

    return str_cmp(label_set_get(a, STR("__address__")),
                   label_set_get(b, STR("__address__")));
}

/* Servers give records in another order each time. */
static bool is_same(struct names *n, const struct scrape_targets *now)
{
    if (!n->has_last || n->last.list.n != now->list.n)
        return false;
    for (size_t i = 0; i < now->list.n; i++)
        if (!label_set_equal(&n->last.list.v[i], &now->list.v[i]))
            return false;
    return true;
}

static void remember(struct names *n, const struct scrape_targets *now)
{
    arena_free(n->arena);
    n->arena = arena_new();
    n->last = (struct scrape_targets){0};
    for (size_t i = 0; i < now->list.n; i++)
        *vec_push(n->arena, &n->last.list) =
            label_set_copy(n->arena, &now->list.v[i]);
    n->has_last = true;
}

static bool look_up(const struct names *n, struct str name, struct arena *a,
                    struct scrape_targets *out, struct error *err)
{
    const struct keys_dns_sd *c = n->config;
    bool is_v6 = str_eq(c->type, STR("AAAA"));
    struct sockaddr_in server;
    struct question q = {
        .name = name,
        .type = str_eq(c->type, STR("SRV")) ? ns_t_srv
                : is_v6                     ? ns_t_aaaa
                                            : ns_t_a,
        .port = (unsigned)c->port,
        .server = c->nameserver.n ? &server : NULL,
    };

    if (q.server && !scrape_config_nameserver(c->nameserver, &server))
        return error_set(err, "nameserver: \"%" STR_FMT "\" is not an address",
                         STR_ARG(c->nameserver));
    if (q.type == ns_t_srv || q.server)
        return ask(&q, a, out, err);
    return look_up_address(name, is_v6 ? AF_INET6 : AF_INET, q.port, a, out,
                           err);
}

static bool load(void *self, struct arena *a, struct scrape_targets *out,
                 bool *same, struct error *err)
{
    struct names *n = self;

    for (size_t i = 0; i < n->config->names.list.n; i++)
        if (!look_up(n, n->config->names.list.v[i], a, out, err))
            return false;
    if (out->list.n)
        qsort(out->list.v, out->list.n, sizeof(*out->list.v), by_address);
    *same = is_same(n, out);
    if (!*same)
        remember(n, out);
    return true;
}

static void names_free(void *self)
{
    struct names *n = self;

    arena_free(n->arena);
    free(n);
}

bool discovery_of_names(const struct keys_dns_sd *config, struct discovery *out,
                        struct error *err)
{
    struct names *n = calloc(1, sizeof(*n));

    if (!n)
        return error_set(err, "out of memory");
    n->config = config;
    return refresh_new(
        &(struct refresh_source){.load = load,
                                 .free = names_free,
                                 .self = n,
                                 .interval_ns = config->refresh_ns,
                                 .name = "dns_sd_configs"},
        out, err);
}
