/*
 * One sample record.  Which fields it has is determined by bits of its event,
 * their order by the kernel's ABI.  The cursor turns bad at the end of the
 * record, so that missing fields are noticed once, at the end.
 */
#include "perf/sample.h"

#include <linux/perf_event.h>

uint64_t perf_word(const uint8_t *p, size_t index)
{
    uint64_t v;

    memcpy(&v, p + index * sizeof(v), sizeof(v));
    return v;
}

/* n records of `size` bytes; NULL when they are not all there. */
static const uint8_t *take(struct cursor *c, uint64_t n, size_t size)
{
    const uint8_t *p = c->at;

    if (n > cursor_left(c) / size) {
        c->bad = true;
        return NULL;
    }
    cursor_skip(c, n * size);
    return p;
}

/* The counter's value, in one of four shapes. */
static void skip_read(struct cursor *c, uint64_t format)
{
    uint64_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) +
                     (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
    uint64_t value = 8 + (format & PERF_FORMAT_ID ? 8 : 0) +
                     (format & PERF_FORMAT_LOST ? 8 : 0);

    if (format & PERF_FORMAT_GROUP) {
        uint64_t n = cursor_u64(c);

        cursor_skip(c, times);
        take(c, n, value);
    } else {
        cursor_skip(c, times + value);
    }
}

static void read_stack(struct cursor *c, struct perf_sample *s)
{
    uint64_t size = cursor_u64(c), used;
    const uint8_t *p = take(c, size, 1);

    if (size == 0 || !p)
        return;
    used = cursor_u64(c);
    s->stack = str_of((const char *)p, used < size ? used : size);
}

/* The event of a sample: ids stand first, or behind ip, tid, time, addr. */
static const struct perf_event *find_event(const struct perf_file *f,
                                           struct str payload)
{
    const struct perf_event *e = &f->events.v[0];
    struct cursor c = perf_cursor(payload);

    if (f->events.n == 1)
        return e;
    if (e->sample_type & PERF_SAMPLE_IDENTIFIER)
        return perf_file_event(f, cursor_u64(&c));
    if (!(e->sample_type & PERF_SAMPLE_ID))
        return e;
    for (uint64_t bit = PERF_SAMPLE_IP; bit <= PERF_SAMPLE_ADDR; bit <<= 1)
        if (e->sample_type & bit)
            cursor_u64(&c);
    return perf_file_event(f, cursor_u64(&c));
}

static void read_branches(struct cursor *c, struct perf_sample *s)
{
    s->n_branches = cursor_u64(c);
    if (s->event->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        cursor_u64(c);
    s->branches = take(c, s->n_branches, 24);
    s->has_call_stack = s->event->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

static void read_registers(struct cursor *c, struct perf_sample *s)
{
    s->regs_abi = cursor_u64(c);
    if (s->regs_abi)
        s->regs =
            take(c, (unsigned)__builtin_popcountll(s->event->regs_user), 8);
}

static void read_raw(struct cursor *c)
{
    cursor_skip(c, cursor_u32(c)); /* padded so that both are words */
}

bool perf_sample_read(const struct perf_file *f, struct str payload,
                      struct perf_sample *s)
{
    struct cursor c = perf_cursor(payload);
    uint64_t type;

    *s = (struct perf_sample){.event = find_event(f, payload)};
    type = s->event->sample_type;
    s->period = s->event->is_frequency ? 1 : s->event->period;
    if (type & PERF_SAMPLE_IDENTIFIER)
        cursor_u64(&c);
    if (type & PERF_SAMPLE_IP)
        s->ip = cursor_u64(&c);
    if (type & PERF_SAMPLE_TID) {
        s->pid = cursor_u32(&c);
        s->tid = cursor_u32(&c);
    }
    if (type & PERF_SAMPLE_TIME)
        s->time = cursor_u64(&c);
    if (type & PERF_SAMPLE_ADDR)
        cursor_u64(&c);
    if (type & PERF_SAMPLE_ID)
        cursor_u64(&c);
    if (type & PERF_SAMPLE_STREAM_ID)
        cursor_u64(&c);
    if (type & PERF_SAMPLE_CPU)
        cursor_u64(&c);
    if (type & PERF_SAMPLE_PERIOD)
        s->period = cursor_u64(&c);
    if (type & PERF_SAMPLE_READ)
        skip_read(&c, s->event->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        s->n_chain = cursor_u64(&c);
        s->chain = take(&c, s->n_chain, 8);
    }
    if (type & PERF_SAMPLE_RAW)
        read_raw(&c);
    if (type & PERF_SAMPLE_BRANCH_STACK)
        read_branches(&c, s);
    if (type & PERF_SAMPLE_REGS_USER)
        read_registers(&c, s);
    if (type & PERF_SAMPLE_STACK_USER)
        read_stack(&c, s);
    return !c.bad;
}

uint64_t perf_record_time(const struct perf_file *f, struct str payload)
{
    uint64_t type = f->events.v[0].sample_type;
    size_t behind = 0;
    uint64_t time;

    if (!f->events.v[0].has_ids || !(type & PERF_SAMPLE_TIME))
        return 0;
    /* From the end: identifier, cpu, stream, id, time. */
    behind += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
    behind += type & PERF_SAMPLE_CPU ? 8 : 0;
    behind += type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
    behind += type & PERF_SAMPLE_ID ? 8 : 0;
    if (payload.n < behind + 8)
        return 0;
    memcpy(&time, payload.s + payload.n - behind - 8, sizeof(time));
    return time;
}
