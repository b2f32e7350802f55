/*
 * Addresses are parsed by hand rather than with getaddrinfo(): "localhost" must
 * not depend on a resolver, and a program that only listens on an IP address
 * should not load one.  Only other names are looked up.
 */
#include "http/server/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/own_fd.h"
#include "base/str.h"

#define BACKLOG 511

struct endpoint {
    struct sockaddr_storage addr;
    socklen_t len;
};

/* "host:port", "[v6]:port", ":port" */
static bool split_host_port(struct str text, struct str *host, struct str *port)
{
    ptrdiff_t colon = str_rfind_char(text, ':');

    if (colon < 0)
        return false;
    *host = str_first(text, (size_t)colon);
    *port = str_skip(text, (size_t)colon + 1);
    if (host->n >= 2 && host->s[0] == '[' && host->s[host->n - 1] == ']')
        *host = str_of(host->s + 1, host->n - 2);
    else if (str_find_char(*host, ':') >= 0)
        return false;
    return true;
}

static bool set_v4(struct endpoint *e, const char *host, uint16_t port)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&e->addr;

    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    e->len = sizeof(*in);
    return inet_pton(AF_INET, host, &in->sin_addr) == 1;
}

static bool set_v6(struct endpoint *e, const char *host, uint16_t port)
{
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&e->addr;

    in->sin6_family = AF_INET6;
    in->sin6_port = htons(port);
    e->len = sizeof(*in);
    return inet_pton(AF_INET6, host, &in->sin6_addr) == 1;
}

static bool look_up(struct endpoint *e, const char *host, uint16_t port,
                    struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    char service[8];
    int rc;

    snprintf(service, sizeof(service), "%u", port);
    rc = getaddrinfo(host, service, &hints, &found);
    if (rc != 0)
        return error_set(err, "lookup %s: %s", host, gai_strerror(rc));
    memcpy(&e->addr, found->ai_addr, found->ai_addrlen);
    e->len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* What is wrong with a text that is not "host:port". */
static bool explain_address(const char *address, struct error *err)
{
    struct str text = str_from(address);
    uint64_t port;

    if (str_to_u64(text, 10, &port) && port <= 65535)
        return error_set(err,
                         "a port alone: write 127.0.0.1:%s, or :%s for every "
                         "interface",
                         address, address);
    if (str_find_char(text, ':') < 0 && text.n)
        return error_set(err, "no port: write %s:6060", address);
    return error_set(err, "not an address: write host:port, [IPv6]:port or "
                          "unix:/path");
}

static bool parse_inet(const char *address, struct endpoint *e,
                       struct error *err)
{
    struct str host, port;
    char name[256];
    uint64_t number;

    if (!split_host_port(str_from(address), &host, &port) ||
        host.n >= sizeof(name))
        return explain_address(address, err);
    if (!str_to_u64(port, 10, &number))
        return error_set(err, "not a port: \"%" STR_FMT "\"", STR_ARG(port));
    if (number > 65535)
        return error_set(err, "port %" STR_FMT " is outside 0..65535",
                         STR_ARG(port));
    memcpy(name, host.s, host.n);
    name[host.n] = '\0';
    memset(e, 0, sizeof(*e));
    if (host.n == 0)
        return set_v6(e, "::", (uint16_t)number);
    if (strcmp(name, "localhost") == 0)
        return set_v4(e, "127.0.0.1", (uint16_t)number);
    return set_v4(e, name, (uint16_t)number) ||
           set_v6(e, name, (uint16_t)number) ||
           look_up(e, name, (uint16_t)number, err);
}

static bool parse_unix(const char *path, struct endpoint *e, struct error *err)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&e->addr;

    memset(e, 0, sizeof(*e));
    un->sun_family = AF_UNIX;
    e->len = sizeof(*un);
    if (!*path)
        return error_set(err, "no path: write unix:/path");
    if (strlen(path) >= sizeof(un->sun_path))
        return error_set(err, "the path is longer than %zu bytes",
                         sizeof(un->sun_path) - 1);
    memcpy(un->sun_path, path, strlen(path) + 1);
    return true;
}

/* A socket file outlives its server; one that refuses connections is stale. */
static void remove_stale_socket(const struct endpoint *e, const char *path)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat st;

    if (fd < 0)
        return;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        connect(fd, (const struct sockaddr *)&e->addr, e->len) != 0 &&
        errno == ECONNREFUSED)
        unlink(path);
    close(fd);
}

/* Once it is bound, other sockets of ours may have its port as well: see
 * http/server/listener.h. */
static bool share_port(int fd)
{
    int on = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0;
}

static int bind_and_listen(const struct endpoint *e, unsigned mode)
{
    bool is_unix = e->addr.ss_family == AF_UNIX;
    int on = 1, off = 0, fd, saved;

    own_fd_begin();
    fd = own_fd_keep(socket(e->addr.ss_family,
                            SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return -1;
    if (is_unix)
        fchmod(fd, mode); /* taken over by the file that bind makes */
    else
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (e->addr.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, (const struct sockaddr *)&e->addr, e->len) == 0 &&
        (!is_unix ||
         chmod(((const struct sockaddr_un *)&e->addr)->sun_path, mode) == 0) &&
        (is_unix || share_port(fd)) && listen(fd, BACKLOG) == 0)
        return fd;
    saved = errno;
    own_fd_close(fd);
    errno = saved;
    return -1;
}

int http_listen(const char *address, unsigned unix_mode, struct error *err)
{
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    struct endpoint e = {0};
    int fd;

    if (is_unix ? !parse_unix(address + 5, &e, err)
                : !parse_inet(address, &e, err)) {
        error_wrap(err, "listen %s", address);
        return -1;
    }
    if (is_unix)
        remove_stale_socket(&e, address + 5);
    fd = bind_and_listen(&e, unix_mode ? unix_mode : 0600);
    if (fd < 0 && errno == EAFNOSUPPORT && address[0] == ':') {
        /* No IPv6 here: every IPv4 interface then. */
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&e.addr;
        uint16_t port = ntohs(v6->sin6_port); /* NOLINT: it is all zero */

        memset(&e, 0, sizeof(e));
        set_v4(&e, "0.0.0.0", port);
        fd = bind_and_listen(&e, 0);
    }
    if (fd < 0)
        error_set_os(err, "listen", address, errno);
    return fd;
}

void http_print_address(const struct sockaddr_storage *addr, char *out)
{
    const struct sockaddr_in *v4 = (const void *)addr;
    const struct sockaddr_in6 *v6 = (const void *)addr;
    const struct sockaddr_un *un = (const void *)addr;
    char host[INET6_ADDRSTRLEN] = "";

    switch (addr->ss_family) {
    case AF_INET:
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
        snprintf(out, HTTP_ADDRESS_MAX, "%s:%u", host, ntohs(v4->sin_port));
        break;
    case AF_INET6:
        if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
            inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], host, sizeof(host));
            snprintf(out, HTTP_ADDRESS_MAX, "%s:%u", host,
                     ntohs(v6->sin6_port));
        } else {
            inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
            snprintf(out, HTTP_ADDRESS_MAX, "[%s]:%u", host,
                     ntohs(v6->sin6_port));
        }
        break;
    default:
        snprintf(out, HTTP_ADDRESS_MAX, "unix:%s", un->sun_path);
    }
}

void http_listening_address(int fd, char *out)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof(addr);

    getsockname(fd, (struct sockaddr *)&addr, &len);
    http_print_address(&addr, out);
}

bool http_address_check(const char *address, struct error *err)
{
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    struct endpoint e;

    return (is_unix ? parse_unix(address + 5, &e, err)
                    : parse_inet(address, &e, err)) ||
           error_wrap(err, "listen %s", address);
}

bool http_address_is_local(const char *address)
{
    struct endpoint e = {0};
    struct error ignored;
    const struct sockaddr_in *v4 = (const void *)&e.addr;
    const struct sockaddr_in6 *v6 = (const void *)&e.addr;

    if (strncmp(address, "unix:", 5) == 0)
        return true;
    if (!parse_inet(address, &e, &ignored))
        return false;
    if (e.addr.ss_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr); /* NOLINT: or filled in */
}
