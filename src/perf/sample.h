#ifndef PERF_SAMPLE_H
#define PERF_SAMPLE_H

#include "perf/perf_file.h"

/*
 * The fields of one record: a sample, or the id fields after any other record.
 */
struct perf_branch {
    uint64_t from, to;
};

struct perf_sample {
    const struct perf_event *event;
    uint64_t ip, time, period;
    uint32_t pid, tid;
    const uint8_t *chain; /* n_chain addresses, not always aligned */
    size_t n_chain;
    const uint8_t *branches; /* n_branches of 24 bytes: from, to, flags */
    size_t n_branches;
    bool has_call_stack; /* the branches are one (LBR) */
    const uint8_t *regs; /* values of the mask event->regs_user */
    uint64_t regs_abi;   /* 0: none */
    struct str stack;    /* bytes from the stack pointer on */
};

/* False: cut short. */
bool perf_sample_read(const struct perf_file *f, struct str payload,
                      struct perf_sample *out);

/* The time of a record that is not a sample; 0 if it has none. */
uint64_t perf_record_time(const struct perf_file *f, struct str payload);

uint64_t perf_word(const uint8_t *p, size_t index);

#endif
