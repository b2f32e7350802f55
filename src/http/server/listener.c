/*
 * The two queues are two sockets that share a port (SO_REUSEPORT).  A classic
 * BPF program, which needs no privileges, tells the kernel which of them gets
 * a new connection: it compares the source address with those that are known.
 *
 * The first socket is bound without SO_REUSEPORT, so that a second server on
 * the same port still fails with "address already in use".
 */
#include "http/server/listener.h"

#include <assert.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/own_fd.h"

#define BACKLOG_KNOWN 128

/* Where the IP headers have the version and the source address. */
#define AT_VERSION   ((uint32_t)SKF_NET_OFF)
#define AT_V4_SOURCE ((uint32_t)SKF_NET_OFF + 12)
#define AT_V6_SOURCE ((uint32_t)SKF_NET_OFF + 8)

/* Instructions: for one address, and around them. */
#define V4_STEPS   2
#define V6_STEPS   5
#define MORE_STEPS 8
#define MAX_STEPS  (LISTENER_KNOWN_MAX * V6_STEPS + MORE_STEPS)

struct program {
    struct sock_filter step[MAX_STEPS];
    unsigned short n;
};

static void add(struct program *p, struct sock_filter step)
{
    assert(p->n < MAX_STEPS);
    p->step[p->n++] = step;
}

static void add_return(struct program *p, enum listener_queue queue)
{
    add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (uint32_t)queue));
}

static void add_load(struct program *p, uint32_t at)
{
    add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
}

/* Goes on if the loaded word is `value`, else skips `skip` steps. */
static void add_compare(struct program *p, uint32_t value, unsigned char skip)
{
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0,
                                        skip));
}

/* The i-th 32 bits of an address. */
static uint32_t word(const struct in6_addr *a, size_t i)
{
    uint32_t value;

    memcpy(&value, &a->s6_addr[4 * i], sizeof(value));
    return ntohl(value);
}

static void add_v4(struct program *p, const struct in6_addr *known, size_t n)
{
    add_load(p, AT_V4_SOURCE);
    for (size_t i = 0; i < n; i++) {
        if (!IN6_IS_ADDR_V4MAPPED(&known[i]))
            continue;
        add_compare(p, word(&known[i], 3), 1);
        add_return(p, QUEUE_KNOWN);
    }
    add_return(p, QUEUE_STRANGERS);
}

/* By /64 networks: the first two words. */
static void add_v6(struct program *p, const struct in6_addr *known, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (IN6_IS_ADDR_V4MAPPED(&known[i]))
            continue;
        for (size_t j = 0; j < 2; j++) {
            add_load(p, AT_V6_SOURCE + (uint32_t)(4 * j));
            add_compare(p, word(&known[i], j),
                        (unsigned char)(V6_STEPS - 2 - 2 * j));
        }
        add_return(p, QUEUE_KNOWN);
    }
    add_return(p, QUEUE_STRANGERS);
}

/* The program is the return value: the index of a queue. */
static void compile(struct program *p, const struct in6_addr *known, size_t n)
{
    unsigned short jump;

    p->n = 0;
    add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT_VERSION));
    add(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4));
    add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 1, 0));
    jump = p->n;
    add(p, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
    add_v4(p, known, n);
    p->step[jump].k = (uint32_t)(p->n - jump - 1);
    add_v6(p, known, n);
}

static bool attach(int fd, const struct in6_addr *known, size_t n)
{
    struct program p;
    struct sock_fprog attached = {.filter = p.step};

    compile(&p, known, n);
    attached.len = p.n;
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &attached,
                      sizeof(attached)) == 0;
}

/* A socket that listens where another one does; -1: not possible. */
static int listen_beside(int first)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof(addr);
    int on = 1, off = 0, fd;

    if (getsockname(first, (struct sockaddr *)&addr, &len) != 0 ||
        addr.ss_family == AF_UNIX || !attach(first, NULL, 0))
        return -1;
    own_fd_begin();
    fd = own_fd_keep(
        socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (addr.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0 &&
        bind(fd, (struct sockaddr *)&addr, len) == 0 &&
        listen(fd, BACKLOG_KNOWN) == 0)
        return fd;
    own_fd_close(fd);
    return -1;
}

bool listener_open(struct listener *l, const char *address, unsigned unix_mode,
                   struct error *err)
{
    int fd = http_listen(address, unix_mode, err);

    if (fd < 0)
        return false;
    l->queue[QUEUE_STRANGERS].fd = fd;
    l->queue[QUEUE_KNOWN].fd = listen_beside(fd);
    http_listening_address(fd, l->address);
    return true;
}

void listener_lose(struct listener *l)
{
    for (int i = 0; i < N_QUEUES; i++)
        l->queue[i].fd = own_fd_lose(l->queue[i].fd);
}

void listener_abandon(struct listener *l)
{
    for (int i = 0; i < N_QUEUES; i++) {
        own_fd_close(l->queue[i].fd);
        l->queue[i].fd = -1;
    }
}

void listener_close(struct listener *l)
{
    bool is_open = l->queue[QUEUE_STRANGERS].fd >= 0;

    listener_abandon(l);
    if (is_open && strncmp(l->address, "unix:", 5) == 0)
        unlink(l->address + 5);
}

bool listener_set_known(struct listener *l, const struct in6_addr *known,
                        size_t n)
{
    assert(n <= LISTENER_KNOWN_MAX);
    return l->queue[QUEUE_KNOWN].fd < 0 ||
           attach(l->queue[QUEUE_STRANGERS].fd, known, n);
}
