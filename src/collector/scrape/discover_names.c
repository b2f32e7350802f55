/*
 * Targets from DNS: SRV records by the resolver library, addresses by
 * getaddrinfo(), which also knows /etc/hosts.  If one name cannot be looked
 * up, all targets stay as they were.
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

static void add(struct scrape_targets *out, struct arena *a, struct str name,
                const char *address)
{
    struct label_set *t = vec_push(a, &out->list);

    *t = (struct label_set){0};
    label_set_put(a, t, STR("__address__"), str_from(address));
    label_set_put(a, t, STR("__meta_dns_name"), name);
}

/* --- SRV ------------------------------------------------------------------ */

static bool read_records(const unsigned char *answer, int n, struct str name,
                         struct arena *a, struct scrape_targets *out,
                         struct error *err)
{
    char host[NS_MAXDNAME];
    ns_msg message;
    ns_rr rr;

    if (ns_initparse(answer, n, &message) != 0)
        return error_set(err, "lookup %" STR_FMT ": the answer is malformed",
                         STR_ARG(name));
    for (int i = 0; i < ns_msg_count(message, ns_s_an) && i < MAX_RECORDS;
         i++) {
        const unsigned char *data;

        if (ns_parserr(&message, ns_s_an, i, &rr) != 0 ||
            ns_rr_type(rr) != ns_t_srv || ns_rr_rdlen(rr) < 7)
            continue;
        data = ns_rr_rdata(rr);
        if (dn_expand(ns_msg_base(message), ns_msg_end(message), data + 6, host,
                      sizeof(host)) < 0)
            continue;
        add(out, a, name, arena_printf(a, "%s:%u", host, ns_get16(data + 4)));
    }
    return true;
}

static bool look_up_srv(struct str name, struct arena *a,
                        struct scrape_targets *out, struct error *err)
{
    unsigned char *answer = arena_alloc(a, MAX_ANSWER);
    struct __res_state state;
    int n, host_error;

    memset(&state, 0, sizeof(state));
    if (res_ninit(&state) != 0)
        return error_set(err, "the resolver cannot be used");
    n = res_nquery(&state, arena_cstr(a, name), ns_c_in, ns_t_srv, answer,
                   MAX_ANSWER);
    host_error = state.res_h_errno;
    res_nclose(&state);
    if (n < 0 && host_error == NO_DATA)
        return true;
    if (n < 0)
        return error_set(err, "lookup %" STR_FMT " (SRV): %s", STR_ARG(name),
                         hstrerror(host_error));
    return read_records(answer, n < MAX_ANSWER ? n : MAX_ANSWER, name, a, out,
                        err);
}

/* --- A and AAAA ----------------------------------------------------------- */

static bool look_up_address(struct str name, int family, unsigned port,
                            struct arena *a, struct scrape_targets *out,
                            struct error *err)
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char text[INET6_ADDRSTRLEN];
    int rc = getaddrinfo(arena_cstr(a, name), NULL, &hints, &list);

    if (rc == EAI_NODATA)
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

static bool load(void *self, struct arena *a, struct scrape_targets *out,
                 bool *same, struct error *err)
{
    struct names *n = self;
    const struct keys_dns_sd *c = n->config;
    int family = str_eq(c->type, STR("AAAA")) ? AF_INET6 : AF_INET;

    for (size_t i = 0; i < c->names.list.n; i++) {
        struct str name = c->names.list.v[i];
        bool ok =
            str_eq(c->type, STR("SRV"))
                ? look_up_srv(name, a, out, err)
                : look_up_address(name, family, (unsigned)c->port, a, out, err);

        if (!ok)
            return false;
    }
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
