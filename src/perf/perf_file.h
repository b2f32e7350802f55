#ifndef PERF_PERF_FILE_H
#define PERF_PERF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/cursor.h"

/*
 * perf.data, as Linux' perf record writes it, to a file or into a pipe: the
 * events, the build ids in the header, and the records.
 *
 * The bytes are not trusted; everything points into them.
 */
struct perf_event {
    struct str name;      /* "cpu-clock", or "event 1:2" */
    uint32_t type;        /* PERF_TYPE_… */
    uint64_t config;      /* which one of that type */
    uint64_t sample_type; /* PERF_SAMPLE_… */
    uint64_t read_format;
    uint64_t branch_type;       /* branch_sample_type */
    uint64_t regs_user;         /* mask */
    uint64_t period;            /* or frequency, if is_frequency */
    bool is_frequency, has_ids; /* has_ids: sample_id_all */
};

struct perf_id {
    uint64_t id;
    uint32_t event;
};

/* The build id of a file, from the header. */
struct perf_build_id {
    struct str file, id; /* id: bytes */
};

struct perf_file {
    struct arena *arena;
    struct str bytes;
    struct str records;
    VEC(struct perf_event) events;
    VEC(struct perf_id) ids; /* by id */
    VEC(struct perf_build_id) build_ids;
    struct str hostname; /* where it was recorded; "": not known */
};

/* One record; the payload is behind its header. */
struct perf_record {
    uint32_t type;
    uint16_t misc;
    struct str payload;
};

bool perf_file_detect(struct str bytes);

/* Reads the header; false with an error if the format is not known. */
bool perf_file_open(struct perf_file *f, struct arena *a, struct str bytes,
                    struct error *err);

/* Takes the next record off the front of *rest, which starts as f->records.
 * False at the end; a truncated record is the end. */
bool perf_file_next(struct perf_file *f, struct str *rest,
                    struct perf_record *out);

/* The event with this id; the first event if the id is not known. */
const struct perf_event *perf_file_event(const struct perf_file *f,
                                         uint64_t id);

static inline struct cursor perf_cursor(struct str s)
{
    return cursor_of(s.s ? s.s : "", s.n);
}

#endif
