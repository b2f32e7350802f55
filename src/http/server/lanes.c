/*
 * Weighted fair queueing: each lane counts the CPU time that it has spent,
 * divided by its weight, and the one that has spent least goes next.  A lane
 * that had nothing to do saves nothing up meanwhile: it starts from where the
 * others are.
 */
#include "http/server/lanes.h"

#include <assert.h>

#define WORSE_EVERY 4 /* turns */

/* Shares of the CPU time.  Handshakes of one prober can need half of it. */
static const int weights[N_LANES] = {
    [LANE_TRUSTED] = 8,      [LANE_KNOWN] = 8,  [LANE_KNOWN_HELLO] = 8,
    [LANE_KNOWN_ACCEPT] = 8, [LANE_ACCEPT] = 2, [LANE_PLAIN] = 1,
    [LANE_HELLO] = 1,
};

enum lane lane_choose(const struct lane_facts *f, unsigned *rank)
{
    bool is_many = f->answered >= LANE_MANY_REQUESTS;

    *rank = 0;
    if (f->is_trusted)
        return LANE_TRUSTED;
    if (f->is_shaking_hands) {
        *rank = f->is_heavy;
        return f->is_known ? LANE_KNOWN_HELLO : LANE_HELLO;
    }
    if (f->is_known && (f->answered == 0 || (!f->is_heavy && !is_many)))
        return LANE_KNOWN;
    *rank = f->answered > 0 && (f->is_heavy || is_many);
    return LANE_PLAIN;
}

static bool is_empty(const struct lanes *l, enum lane lane)
{
    if (l->lane[lane].is_ready)
        return false;
    for (int i = 0; i < LANE_RANKS; i++)
        if (l->lane[lane].ranks[i].first)
            return false;
    return true;
}

static void wake(struct lanes *l, enum lane lane)
{
    if (l->lane[lane].spent_ns < l->floor_ns)
        l->lane[lane].spent_ns = l->floor_ns;
}

void lanes_add(struct lanes *l, struct connection *c, enum lane lane,
               unsigned rank)
{
    struct lane_queue *q = &l->lane[lane].ranks[rank];

    assert(rank < LANE_RANKS);
    if (c->is_queued)
        return;
    if (is_empty(l, lane))
        wake(l, lane);
    c->is_queued = true;
    c->lane = lane;
    c->rank = rank;
    c->next_ready = NULL;
    c->prev_ready = q->last;
    if (q->last)
        q->last->next_ready = c;
    else
        q->first = c;
    q->last = c;
    l->n++;
}

void lanes_remove(struct lanes *l, struct connection *c)
{
    struct lane_queue *q;

    if (!c->is_queued)
        return;
    q = &l->lane[c->lane].ranks[c->rank];
    assert(l->n > 0 && q->first);
    if (c->prev_ready)
        c->prev_ready->next_ready = c->next_ready;
    else
        q->first = c->next_ready;
    if (c->next_ready)
        c->next_ready->prev_ready = c->prev_ready;
    else
        q->last = c->prev_ready;
    c->is_queued = false;
    l->n--;
}

bool lane_is_for_accepting(enum lane lane)
{
    return lane == LANE_KNOWN_ACCEPT || lane == LANE_ACCEPT;
}

void lanes_set_accept(struct lanes *l, enum lane lane, bool is_ready)
{
    assert(lane_is_for_accepting(lane));
    if (is_ready && is_empty(l, lane))
        wake(l, lane);
    l->lane[lane].is_ready = is_ready;
}

bool lanes_are_empty(const struct lanes *l)
{
    return l->n == 0 && !l->lane[LANE_KNOWN_ACCEPT].is_ready &&
           !l->lane[LANE_ACCEPT].is_ready;
}

bool lanes_next(struct lanes *l, enum lane *out)
{
    bool found = false;

    for (int i = 0; i < N_LANES; i++) {
        if (is_empty(l, (enum lane)i) ||
            (found && l->lane[i].spent_ns >= l->lane[*out].spent_ns))
            continue;
        *out = (enum lane)i;
        found = true;
    }
    if (found)
        l->floor_ns = l->lane[*out].spent_ns;
    return found;
}

/* The newest, or the one before it: the newest alone could keep the other
 * waiting for ever. */
static struct connection *newest(const struct lane_queue *q, unsigned turn)
{
    struct connection *c = q->last;

    return turn % 2 && c->prev_ready ? c->prev_ready : c;
}

static struct lane_queue *choose_rank(struct lanes *l, enum lane lane,
                                      bool worse)
{
    struct lane_queue *chosen = NULL;

    for (int i = 0; i < LANE_RANKS; i++)
        if (l->lane[lane].ranks[i].first && (!chosen || worse))
            chosen = &l->lane[lane].ranks[i];
    return chosen;
}

struct connection *lanes_take(struct lanes *l, enum lane lane)
{
    unsigned turn = l->lane[lane].turns++;
    struct lane_queue *q =
        choose_rank(l, lane, turn % WORSE_EVERY == WORSE_EVERY - 1);
    struct connection *c;

    assert(!lane_is_for_accepting(lane) && q);
    c = lane == LANE_HELLO || lane == LANE_KNOWN_HELLO ? newest(q, turn)
                                                       : q->first;
    lanes_remove(l, c);
    return c;
}

void lanes_charge(struct lanes *l, enum lane lane, int64_t cpu_ns)
{
    l->lane[lane].spent_ns += cpu_ns / weights[lane];
}
