/*
 * Which queue a new connection waits in.
 */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/server/exchange.h"
#include "http/server/listener.h"
#include "http/server/peers.h"

#define SECOND ((int64_t)1000000000)

static struct listener open_at(const char *address)
{
    struct listener l = {0};
    struct error err;

    if (!listener_open(&l, address, 0, &err)) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return l;
}

static uint16_t port_of(const struct listener *l)
{
    struct str text = str_from(l->address);
    uint64_t port = 0;

    EXPECT(str_to_u64(str_skip(text, (size_t)str_rfind_char(text, ':') + 1), 10,
                      &port));
    return (uint16_t)port;
}

/* A socket that is connecting to the listener on 127.0.0.1. */
static int connect_from(const struct listener *l, const char *source)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port_of(l))};
    struct sockaddr_in from = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT(inet_pton(AF_INET, source, &from.sin_addr) == 1);
    EXPECT(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
    EXPECT(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ||
           errno == EINPROGRESS);
    return fd;
}

static bool is_connected(int fd, int patience_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    return poll(&p, 1, patience_ms) == 1 && !(p.revents & POLLERR);
}

/* The queue that has a connection, which is taken out of it. */
static int queue_that_got(const struct listener *l)
{
    struct pollfd p[N_QUEUES];
    int got = -1;

    for (int q = 0; q < N_QUEUES; q++)
        p[q] = (struct pollfd){.fd = l->queue[q].fd, .events = POLLIN};
    EXPECT(poll(p, N_QUEUES, 30000) == 1);
    for (int q = 0; q < N_QUEUES; q++) {
        if (!p[q].revents)
            continue;
        got = q;
        close(accept(l->queue[q].fd, NULL, NULL));
    }
    return got;
}

static int queue_of(const struct listener *l, const char *source)
{
    int fd = connect_from(l, source);
    int queue = queue_that_got(l);

    close(fd);
    return queue;
}

static struct in6_addr address(const char *text)
{
    struct in6_addr a = IN6ADDR_ANY_INIT;

    EXPECT(inet_pton(AF_INET6, text, &a) == 1);
    return a;
}

TEST(nobody_is_known_at_first)
{
    struct listener l = open_at("127.0.0.1:0");

    EXPECT(l.queue[QUEUE_KNOWN].fd >= 0);
    for (int i = 0; i < 8; i++)
        EXPECT(queue_of(&l, "127.0.0.1") == QUEUE_STRANGERS);
    listener_close(&l);
}

static void expect_sorting(const char *where)
{
    struct listener l = open_at(where);
    struct in6_addr known[] = {address("2001:db8::"),
                               address("::ffff:127.0.0.3"),
                               address("::ffff:127.0.0.1")};

    EXPECT(listener_set_known(&l, known, 3));
    for (int i = 0; i < 4; i++) {
        EXPECT(queue_of(&l, "127.0.0.1") == QUEUE_KNOWN);
        EXPECT(queue_of(&l, "127.0.0.3") == QUEUE_KNOWN);
        EXPECT(queue_of(&l, "127.0.0.2") == QUEUE_STRANGERS);
    }
    EXPECT(listener_set_known(&l, known, 2)); /* it can be changed */
    EXPECT(queue_of(&l, "127.0.0.1") == QUEUE_STRANGERS);
    EXPECT(queue_of(&l, "127.0.0.3") == QUEUE_KNOWN);
    listener_close(&l);
}

TEST(known_addresses_have_a_queue_of_their_own)
{
    expect_sorting("127.0.0.1:0");
    expect_sorting(":0"); /* IPv6 and IPv4 */
}

static int queue_of_v6(const struct listener *l)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_port = htons(port_of(l)),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0), queue;

    EXPECT(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    queue = queue_that_got(l);
    close(fd);
    return queue;
}

TEST(an_ipv6_address_is_known_by_its_network)
{
    struct in6_addr known[] = {address("2001:db8::"), address("::")};
    struct in6_addr other[] = {address("::1:0:0:0:0"), address("1::")};
    struct listener l = {0};
    struct error err;

    if (!listener_open(&l, "[::1]:0", 0, &err))
        return; /* no IPv6 here */
    EXPECT(queue_of_v6(&l) == QUEUE_STRANGERS);
    EXPECT(listener_set_known(&l, known, 2));
    EXPECT(queue_of_v6(&l) == QUEUE_KNOWN);
    EXPECT(listener_set_known(&l, other, 2));
    EXPECT(queue_of_v6(&l) == QUEUE_STRANGERS);
    listener_close(&l);
}

TEST(as_many_addresses_as_promised)
{
    struct listener l = open_at("127.0.0.1:0");
    struct in6_addr known[LISTENER_KNOWN_MAX];

    for (size_t i = 0; i < LISTENER_KNOWN_MAX; i++) {
        known[i] = address("2001:db8::");
        known[i].s6_addr[7] = (uint8_t)i;
    }
    EXPECT(listener_set_known(&l, known, LISTENER_KNOWN_MAX));
    EXPECT(queue_of(&l, "127.0.0.1") == QUEUE_STRANGERS);
    for (size_t i = 0; i < LISTENER_KNOWN_MAX; i++) {
        known[i] = address("::ffff:127.0.1.0");
        known[i].s6_addr[15] = (uint8_t)i;
    }
    EXPECT(listener_set_known(&l, known, LISTENER_KNOWN_MAX));
    EXPECT(queue_of(&l, "127.0.1.127") == QUEUE_KNOWN);
    EXPECT(queue_of(&l, "127.0.1.128") == QUEUE_STRANGERS);
    listener_close(&l);
}

TEST(strangers_who_fill_their_queue_keep_no_known_client_out)
{
    struct listener l = open_at("127.0.0.1:0");
    struct in6_addr known = address("::ffff:127.0.0.1");
    int many[1024], fd;

    EXPECT(listener_set_known(&l, &known, 1));
    for (size_t i = 0; i < 1024; i++)
        many[i] = connect_from(&l, "127.0.0.2");
    fd = connect_from(&l, "127.0.0.3");
    EXPECT(!is_connected(fd, 100)); /* the queue is full */
    close(fd);
    fd = connect_from(&l, "127.0.0.1");
    EXPECT(is_connected(fd, 30000));
    close(fd);
    for (size_t i = 0; i < 1024; i++)
        close(many[i]);
    listener_close(&l);
}

TEST(a_unix_socket_has_one_queue)
{
    char dir[] = "/tmp/pprof-test-XXXXXX", text[64];
    struct in6_addr known = address("::ffff:127.0.0.1");
    struct listener l;

    EXPECT(mkdtemp(dir) != NULL);
    snprintf(text, sizeof(text), "unix:%s/s", dir);
    l = open_at(text);
    EXPECT(l.queue[QUEUE_KNOWN].fd < 0);
    EXPECT(listener_set_known(&l, &known, 1));
    listener_close(&l);
    EXPECT(access(text + 5, F_OK) != 0);
    EXPECT(rmdir(dir) == 0);
}

/* --- whom limits are for ---------------------------------------------------
 */

static struct str network(const char *text, char room[HTTP_NETWORK_MAX])
{
    struct http_client client = {.is_tls = false};

    snprintf(client.address, sizeof(client.address), "%s", text);
    return http_client_network(&client, room);
}

TEST(limits_are_for_an_ipv4_address_or_an_ipv6_network)
{
    char room[HTTP_NETWORK_MAX];

    EXPECT_STR(network("10.0.0.1:4711", room), "10.0.0.1");
    EXPECT_STR(network("[2001:db8:1:2:3:4:5:6]:4711", room), "2001:db8:1:2::");
    EXPECT_STR(network("[::1]:4711", room), "::");
    EXPECT_STR(network("unix:/run/x", room), "unix");
    EXPECT_STR(network("[nonsense]:1", room), "[nonsense]");
}

TEST(known_peers_are_listed_for_the_listeners)
{
    static struct peers peers;
    struct in6_addr known[4];

    EXPECT(peer_trust(peers_find(&peers, STR("10.0.0.1"), SECOND), SECOND));
    EXPECT(!peer_trust(peers_find(&peers, STR("10.0.0.1"), SECOND), SECOND));
    peers_find(&peers, STR("10.0.0.2"), SECOND); /* a stranger */
    EXPECT(peers_known(&peers, SECOND, known, 4) == 1);
    EXPECT(memcmp(&known[0],
                  &(struct in6_addr){{{[10] = 0xff, 0xff, 10, 0, 0, 1}}},
                  16) == 0);
    EXPECT(peer_trust(peers_find(&peers, STR("2001:db8::"), SECOND), SECOND));
    EXPECT(peer_trust(peers_find(&peers, STR("unix"), SECOND), SECOND));
    EXPECT(peers_known(&peers, SECOND, known, 4) == 2);
    EXPECT(peers_known(&peers, SECOND, known, 1) == 1);
    EXPECT(peers_known(&peers, 602 * SECOND, known, 4) == 0);
}

TEST_MAIN
