/*
 * Who goes first: lanes, addresses, and the log of refusals.
 */
#include "test.h"

#include "http/server/lanes.h"
#include "http/server/peers.h"
#include "http/server/refusals.h"

#define SECOND      ((int64_t)1000000000)
#define MILLISECOND ((int64_t)1000000)

TEST(lanes_share_by_weight)
{
    struct connection c[3] = {{.fd = 0}};
    struct lanes l = {0};
    int turns[N_LANES] = {0};
    enum lane lane;

    lanes_add(&l, &c[0], LANE_PLAIN, 0);
    lanes_add(&l, &c[1], LANE_KNOWN, 0);
    lanes_add(&l, &c[2], LANE_HELLO, 0);
    for (int i = 0; i < 600; i++) {
        struct connection *one;

        EXPECT(lanes_next(&l, &lane));
        one = lanes_take(&l, lane);
        turns[lane]++;
        lanes_charge(&l, lane, MILLISECOND);
        lanes_add(&l, one, lane, 0);
    }
    EXPECT(turns[LANE_KNOWN] > 470 && turns[LANE_KNOWN] < 490);
    EXPECT(turns[LANE_PLAIN] > 55 && turns[LANE_PLAIN] < 65);
}

static enum lane chosen(struct lane_facts f, unsigned expected_rank)
{
    unsigned rank;
    enum lane lane = lane_choose(&f, &rank);

    EXPECT(rank == expected_rank);
    return lane;
}

/* A prober over TLS can need more than half of a small budget: a flood of
 * stalled handshakes must not take its place. */
TEST(a_known_address_keeps_its_lane_for_handshakes)
{
    struct lane_facts f = {.is_shaking_hands = true, .is_known = true};

    EXPECT(chosen(f, 0) == LANE_KNOWN_HELLO);
    f.is_heavy = true;
    EXPECT(chosen(f, 1) == LANE_KNOWN_HELLO);
    f.is_known = false;
    EXPECT(chosen(f, 1) == LANE_HELLO);
    f.is_heavy = false;
    EXPECT(chosen(f, 0) == LANE_HELLO);
}

TEST(a_first_request_is_preferred)
{
    struct lane_facts f = {.is_known = true, .is_heavy = true};

    EXPECT(chosen(f, 0) == LANE_KNOWN);
    f.answered = 1;
    EXPECT(chosen(f, 1) == LANE_PLAIN);
    f.is_heavy = false;
    EXPECT(chosen(f, 0) == LANE_KNOWN);
    f.answered = LANE_MANY_REQUESTS;
    EXPECT(chosen(f, 1) == LANE_PLAIN);
    f.is_known = false;
    f.answered = 0;
    EXPECT(chosen(f, 0) == LANE_PLAIN);
    f.is_trusted = true;
    EXPECT(chosen(f, 0) == LANE_TRUSTED);
}

TEST(a_lane_that_was_empty_has_saved_nothing_up)
{
    struct connection busy = {.fd = 0}, late = {.fd = 0};
    struct lanes l = {0};
    enum lane lane;

    for (int i = 0; i < 100; i++) {
        lanes_add(&l, &busy, LANE_PLAIN, 0);
        EXPECT(lanes_next(&l, &lane) && lane == LANE_PLAIN);
        lanes_take(&l, lane);
        lanes_charge(&l, lane, MILLISECOND);
    }
    lanes_add(&l, &busy, LANE_PLAIN, 0);
    lanes_add(&l, &late, LANE_HELLO, 0);
    EXPECT(lanes_next(&l, &lane) && lane == LANE_HELLO); /* at once … */
    lanes_take(&l, lane);
    lanes_charge(&l, lane, 2 * MILLISECOND);
    lanes_add(&l, &late, LANE_HELLO, 0);
    EXPECT(lanes_next(&l, &lane) && lane == LANE_PLAIN); /* … but not twice */
}

TEST(the_better_rank_goes_first_and_the_worse_is_not_forgotten)
{
    struct connection better[8] = {{.fd = 0}}, worse = {.fd = 0};
    struct lanes l = {0};
    int at = 0;

    lanes_add(&l, &worse, LANE_PLAIN, 1);
    for (int i = 0; i < 8; i++)
        lanes_add(&l, &better[i], LANE_PLAIN, 0);
    EXPECT(lanes_take(&l, LANE_PLAIN) == &better[0]); /* in order */
    EXPECT(lanes_take(&l, LANE_PLAIN) == &better[1]);
    for (at = 2; lanes_take(&l, LANE_PLAIN) != &worse; at++)
        ;
    EXPECT(at == 3);
}

TEST(the_newest_handshake_goes_first)
{
    struct connection c[4] = {{.fd = 0}};
    struct lanes l = {0};

    for (int i = 0; i < 4; i++)
        lanes_add(&l, &c[i], LANE_HELLO, 0);
    EXPECT(lanes_take(&l, LANE_HELLO) == &c[3]);
    EXPECT(lanes_take(&l, LANE_HELLO) == &c[1]); /* the one before it */
    EXPECT(lanes_take(&l, LANE_HELLO) == &c[2]);
}

TEST(a_connection_leaves_its_lane)
{
    struct connection c[3] = {{.fd = 0}};
    struct lanes l = {0};
    enum lane lane;

    for (int i = 0; i < 3; i++)
        lanes_add(&l, &c[i], LANE_PLAIN, 0);
    lanes_remove(&l, &c[1]);
    lanes_remove(&l, &c[1]);
    EXPECT(lanes_take(&l, LANE_PLAIN) == &c[0]);
    EXPECT(lanes_take(&l, LANE_PLAIN) == &c[2]);
    EXPECT(l.n == 0 && !lanes_next(&l, &lane));
}

TEST(accepting_known_clients_has_a_lane_of_its_own)
{
    struct connection c = {.fd = 0};
    struct lanes l = {0};
    enum lane lane;

    EXPECT(lanes_are_empty(&l));
    lanes_set_accept(&l, LANE_ACCEPT, true);
    EXPECT(!lanes_are_empty(&l));
    EXPECT(lanes_next(&l, &lane) && lane == LANE_ACCEPT);
    lanes_charge(&l, lane, MILLISECOND);
    lanes_set_accept(&l, LANE_KNOWN_ACCEPT, true);
    EXPECT(lanes_next(&l, &lane) && lane == LANE_KNOWN_ACCEPT);
    lanes_set_accept(&l, LANE_KNOWN_ACCEPT, false);
    EXPECT(lanes_next(&l, &lane) && lane == LANE_ACCEPT);
    lanes_set_accept(&l, LANE_ACCEPT, false);
    EXPECT(lanes_are_empty(&l) && !lanes_next(&l, &lane));
    lanes_add(&l, &c, LANE_PLAIN, 0);
    EXPECT(!lanes_are_empty(&l));
}

/* --- addresses -------------------------------------------------------------
 */

TEST(what_an_address_has_used_is_forgotten_slowly)
{
    struct peer p = {.hash = 1};

    EXPECT(peer_use(&p, 80 * MILLISECOND, 10 * SECOND) == 80 * MILLISECOND);
    EXPECT(peer_use(&p, 0, 10 * SECOND) == 80 * MILLISECOND);
    EXPECT(peer_use(&p, 10 * MILLISECOND, 10 * SECOND) == 90 * MILLISECOND);
    EXPECT(peer_use(&p, 0, 11 * SECOND) == 60 * MILLISECOND);
    EXPECT(peer_use(&p, 0, 14 * SECOND) == 0);
}

TEST(an_address_is_known_by_two_answers_in_calm)
{
    struct peer p = {.hash = 1};

    peer_answered(&p, true, 10 * SECOND);
    peer_answered(&p, true, 11 * SECOND);
    EXPECT(!peer_is_known(&p, 11 * SECOND));
    peer_answered(&p, false, 13 * SECOND); /* during a flood */
    EXPECT(!peer_is_known(&p, 13 * SECOND));
    peer_answered(&p, true, 14 * SECOND);
    EXPECT(peer_is_known(&p, 14 * SECOND));
    peer_answered(&p, false, 500 * SECOND); /* stays known by coming again */
    EXPECT(peer_is_known(&p, 1000 * SECOND));
    EXPECT(!peer_is_known(&p, 1101 * SECOND));
    peer_trust(&p, 2000 * SECOND);
    EXPECT(peer_is_known(&p, 2001 * SECOND));
}

TEST(strangers_do_not_drive_out_known_addresses)
{
    static struct peers peers;
    struct peer *known = peers_find(&peers, STR("10.0.0.1"), SECOND);
    struct peer *busy = peers_find(&peers, STR("10.0.0.2"), SECOND);
    char text[32];

    peer_trust(known, SECOND);
    busy->connections = 1;
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof(text), "192.168.%d.%d", i / 256, i % 256);
        peers_find(&peers, str_from(text), 2 * SECOND);
    }
    EXPECT(peers_find(&peers, STR("10.0.0.1"), 2 * SECOND) == known);
    EXPECT(peer_is_known(known, 2 * SECOND));
    EXPECT(peers_find(&peers, STR("10.0.0.2"), 2 * SECOND) == busy);
    EXPECT(busy->connections == 1);
}

/* --- refusals --------------------------------------------------------------
 */

static bool note(struct refusals *r, struct peer *p, int64_t now_ns,
                 struct buf *line)
{
    struct http_client client = {.address = "10.0.0.1:4711"};

    buf_clear(line);
    return refusals_note(r, p, &client, 401, STR("Unauthorized"),
                         STR("/debug/\"pprof\n"), now_ns, line);
}

TEST(a_client_is_logged_once_a_minute)
{
    struct buf line = BUF_INIT(1024);
    struct peer p = {.hash = 1};
    struct refusals r = {0};

    EXPECT(note(&r, &p, SECOND, &line));
    EXPECT_STR(buf_str(&line), "refused from=10.0.0.1 status=401 "
                               "reason=\"Unauthorized\" "
                               "path=\"/debug/?pprof?\"");
    EXPECT(!note(&r, &p, 2 * SECOND, &line));
    EXPECT(!note(&r, &p, 60 * SECOND, &line));
    EXPECT(note(&r, &p, 62 * SECOND, &line));
    EXPECT(str_has_suffix(buf_str(&line), STR(" more=2")));
    buf_release(&line);
}

TEST(many_clients_do_not_flood_the_log)
{
    struct buf line = BUF_INIT(1024);
    struct refusals r = {0};
    int lines = 0;

    for (int i = 0; i < 1000; i++) {
        struct peer p = {.hash = 1};

        lines += note(&r, &p, SECOND + i, &line);
    }
    EXPECT(lines == REFUSALS_LINES_PER_MINUTE);
    buf_release(&line);
}

TEST_MAIN
