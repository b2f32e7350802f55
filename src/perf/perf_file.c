/*
 * The container: header, event descriptions, build ids, and the sequence of
 * records, both for files and for the form that perf writes to a pipe.
 * Offsets and sizes come from the file, so every access goes through part() or
 * a cursor that stops at the end.
 */
#include "perf/perf_file.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/search.h"

/* Records that only files have; the kernel's own are below 64. */
enum {
    RECORD_HEADER_ATTR = 64,
    RECORD_HEADER_BUILD_ID = 67,
    RECORD_AUXTRACE = 71,
    RECORD_HEADER_FEATURE = 80,
    RECORD_COMPRESSED = 81,
};

enum { FEATURE_BUILD_ID = 2, FEATURE_HOSTNAME = 3, FEATURE_EVENT_DESC = 12 };

#define ATTR_MIN      64 /* the first version of struct perf_event_attr */
#define BUILD_ID_SIZE 24 /* 20 bytes, and the number of those that count */

static const struct str magic = STR_INIT("PERFILE2");
static const struct str swapped_magic = STR_INIT("2ELIFREP");

bool perf_file_detect(struct str bytes)
{
    return str_has_prefix(bytes, magic) || str_has_prefix(bytes, swapped_magic);
}

/* The n bytes at an offset of the file; "" when they are not there. */
static struct str part(const struct perf_file *f, uint64_t at, uint64_t n)
{
    if (at > f->bytes.n || n > f->bytes.n - at)
        return STR("");
    return str_of(f->bytes.s + at, n);
}

/* --- events ------------------------------------------------------------- */

static const char *const hardware[] = {
    "cycles",       "instructions",  "cache-references", "cache-misses",
    "branches",     "branch-misses", "bus-cycles",       "stalled-frontend",
    "stalled-back", "ref-cycles",
};

static const char *const software[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static struct str default_name(struct arena *a, uint32_t type, uint64_t config)
{
    if (type == PERF_TYPE_HARDWARE &&
        config < sizeof(hardware) / sizeof(*hardware))
        return str_from(hardware[config]);
    if (type == PERF_TYPE_SOFTWARE &&
        config < sizeof(software) / sizeof(*software))
        return str_from(software[config]);
    return str_from(
        arena_printf(a, "event %u:%#llx", type, (unsigned long long)config));
}

static void add_event(struct perf_file *f, struct str attr)
{
    struct perf_event *e = vec_push(f->arena, &f->events);
    struct cursor c = perf_cursor(attr);
    uint64_t flags;

    e->type = cursor_u32(&c);
    cursor_u32(&c); /* size */
    e->config = cursor_u64(&c);
    e->period = cursor_u64(&c);
    e->sample_type = cursor_u64(&c);
    e->read_format = cursor_u64(&c);
    flags = cursor_u64(&c);
    cursor_skip(&c, 4 + 4 + 8 + 8); /* wakeup, breakpoint */
    e->branch_type = cursor_u64(&c);
    e->regs_user = cursor_u64(&c);
    /* Bits of the bit field, counted from disabled. */
    e->is_frequency = flags >> 10 & 1;
    e->has_ids = flags >> 18 & 1;
    e->name = default_name(f->arena, e->type, e->config);
}

static void add_ids(struct perf_file *f, struct str ids)
{
    struct cursor c = perf_cursor(ids);

    while (cursor_left(&c) >= 8)
        *vec_push(f->arena, &f->ids) =
            (struct perf_id){cursor_u64(&c), (uint32_t)(f->events.n - 1)};
}

static void read_attrs(struct perf_file *f, struct str attrs, uint64_t size)
{
    if (size < ATTR_MIN + 16)
        return;
    for (; attrs.n >= size; attrs = str_skip(attrs, size)) {
        struct cursor c = perf_cursor(str_skip(attrs, size - 16));
        uint64_t at = cursor_u64(&c), n = cursor_u64(&c);

        add_event(f, str_first(attrs, size - 16));
        add_ids(f, part(f, at, n));
    }
}

/* Names, in the order of the events: a count, the size of an attr, and for
 * each an attr, the number of its ids, its name and the ids. */
static void read_descriptions(struct perf_file *f, struct str text)
{
    struct cursor c = perf_cursor(text);
    uint32_t n = cursor_u32(&c), size = cursor_u32(&c);

    for (uint32_t i = 0; i < n && i < f->events.n && !c.bad; i++) {
        uint32_t ids, length;
        const char *name;

        cursor_skip(&c, size);
        ids = cursor_u32(&c);
        length = cursor_u32(&c);
        name = (const char *)c.at;
        if (!cursor_skip(&c, length))
            return;
        if (length && strnlen(name, length))
            f->events.v[i].name = str_of(name, strnlen(name, length));
        cursor_skip(&c, (uint64_t)ids * 8);
    }
}

/* --- build ids ---------------------------------------------------------- */

/* Of a record header's size: misc tells whether the length is there. */
static void add_build_id(struct perf_file *f, uint16_t misc, struct str body)
{
    struct cursor c = perf_cursor(body);
    const char *id;
    size_t n = 20;

    cursor_u32(&c); /* pid */
    id = (const char *)c.at;
    if (!cursor_skip(&c, BUILD_ID_SIZE))
        return;
    if (misc & (1u << 15)) /* PERF_RECORD_MISC_BUILD_ID_SIZE */
        n = (uint8_t)id[20];
    if (n == 0 || n > 20)
        return;
    body = str_of((const char *)c.at, cursor_left(&c));
    *vec_push(f->arena, &f->build_ids) = (struct perf_build_id){
        str_first(body, strnlen(body.s, body.n)), str_of(id, n)};
}

/* Takes a record off the front. */
static bool take_record(struct str *rest, struct perf_record *out)
{
    struct cursor c = perf_cursor(*rest);
    uint16_t size;

    out->type = cursor_u32(&c);
    out->misc = cursor_u16(&c);
    size = cursor_u16(&c);
    if (c.bad || size < 8 || size > rest->n)
        return false;
    out->payload = str_of(rest->s + 8, size - 8u);
    *rest = str_skip(*rest, size);
    return true;
}

static void read_feature(struct perf_file *f, uint64_t which, struct str body)
{
    struct perf_record r;

    if (which == FEATURE_EVENT_DESC)
        read_descriptions(f, body);
    else if (which == FEATURE_HOSTNAME && body.n > 4) /* its length first */
        f->hostname = str_of(body.s + 4, strnlen(body.s + 4, body.n - 4));
    else if (which == FEATURE_BUILD_ID)
        while (take_record(&body, &r))
            add_build_id(f, r.misc, r.payload);
}

/* --- the two kinds of file ---------------------------------------------- */

static void read_features(struct perf_file *f, uint64_t at,
                          const uint64_t bits[4])
{
    for (uint64_t i = 0; i < 256; i++) {
        struct cursor c;
        uint64_t from, n;

        if (!(bits[i / 64] >> (i % 64) & 1))
            continue;
        c = perf_cursor(part(f, at, 16));
        from = cursor_u64(&c);
        n = cursor_u64(&c);
        at += 16;
        read_feature(f, i, part(f, from, n));
    }
}

static bool open_file(struct perf_file *f, struct error *err)
{
    struct cursor c = perf_cursor(f->bytes);
    uint64_t attr_size, attrs, attrs_n, data, data_n, bits[4];

    cursor_skip(&c, 16);
    attr_size = cursor_u64(&c);
    attrs = cursor_u64(&c);
    attrs_n = cursor_u64(&c);
    data = cursor_u64(&c);
    data_n = cursor_u64(&c);
    cursor_skip(&c, 16);
    for (int i = 0; i < 4; i++)
        bits[i] = cursor_u64(&c);
    if (c.bad || data > f->bytes.n)
        return error_set(err, "perf.data: the header is cut short");
    /* Left by a recorder that was killed: no size, everything is data. */
    if (data_n == 0 || data_n > f->bytes.n - data)
        data_n = f->bytes.n - data;
    f->records = str_of(f->bytes.s + data, data_n);
    read_attrs(f, part(f, attrs, attrs_n), attr_size);
    read_features(f, data + data_n, bits);
    return true;
}

/* A header attr of a pipe: its attr tells its size, ids follow. */
static void read_piped_attr(struct perf_file *f, struct str body)
{
    uint32_t size = 0;

    if (body.n >= 8)
        memcpy(&size, body.s + 4, sizeof(size));
    if (size < ATTR_MIN || size > body.n)
        return;
    add_event(f, str_first(body, size));
    add_ids(f, str_skip(body, size));
}

static bool open_pipe(struct perf_file *f)
{
    struct str rest;
    struct perf_record r;

    f->records = rest = str_skip(f->bytes, 16);
    while (perf_file_next(f, &rest, &r)) {
        uint64_t which = 0;

        if (r.payload.n >= 8) /* NOLINTNEXTLINE: with n, s is there */
            memcpy(&which, r.payload.s, sizeof(which));
        if (r.type == RECORD_HEADER_ATTR)
            read_piped_attr(f, r.payload);
        else if (r.type == RECORD_HEADER_FEATURE && r.payload.n >= 8)
            read_feature(f, which, str_skip(r.payload, 8));
        else if (r.type == RECORD_HEADER_BUILD_ID)
            add_build_id(f, r.misc, r.payload);
    }
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct perf_id *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

bool perf_file_open(struct perf_file *f, struct arena *a, struct str bytes,
                    struct error *err)
{
    struct cursor c = perf_cursor(bytes);
    uint64_t size;

    *f = (struct perf_file){.arena = a, .bytes = bytes};
    if (str_has_prefix(bytes, swapped_magic))
        return error_set(err, "perf.data: recorded on a big-endian machine, "
                              "which is not read here");
    cursor_skip(&c, 8);
    size = cursor_u64(&c);
    if (c.bad)
        return error_set(err, "perf.data: the header is cut short");
    if (!(size == 16 ? open_pipe(f) : open_file(f, err)))
        return false;
    if (f->events.n == 0)
        return error_set(err, "perf.data: there are no events in it");
    if (f->ids.n)
        qsort(f->ids.v, f->ids.n, sizeof(*f->ids.v), by_id);
    return true;
}

bool perf_file_next(struct perf_file *f, struct str *rest,
                    struct perf_record *out)
{
    (void)f;
    if (!take_record(rest, out))
        return false;
    /* A trace of the processor's follows its record. */
    if (out->type == RECORD_AUXTRACE && out->payload.n >= 8) {
        uint64_t n;

        memcpy(&n, out->payload.s, sizeof(n)); /* NOLINT: the same */
        *rest = str_skip(*rest, n < rest->n ? (size_t)n : rest->n);
    }
    return true;
}

const struct perf_event *perf_file_event(const struct perf_file *f, uint64_t id)
{
    size_t at = search_first(i, 0, f->ids.n, f->ids.v[i].id >= id);

    if (at < f->ids.n && f->ids.v[at].id == id)
        return &f->events.v[f->ids.v[at].event];
    return &f->events.v[0];
}
