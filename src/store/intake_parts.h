#ifndef STORE_INTAKE_PARTS_H
#define STORE_INTAKE_PARTS_H

#include "base/hash.h"
#include "profile/proto.h"
#include "profile/wire_read.h"
#include "store/grow.h"
#include "store/intake.h"
#include "store/pack.h"

/*
 * What the files of the intake share: intake_read.c scans the messages,
 * intake_tables.c reads what samples refer to, intake_samples.c the samples.
 */

/* One more element, or INTAKE_NO_MEMORY. */
#define push(array)                                                            \
    (grow(&(array)->v, &(array)->cap, (array)->n + 1)                          \
         ? &(array)->v[(array)->n++]                                           \
         : NULL)

struct reading {
    struct intake *in;
    const struct intake_bounds *bounds;
    struct error *err;
    enum intake_verdict verdict;
    uint64_t once[PROTO_DOC_URL + 1];
    size_t records;
};

static inline bool stop(struct reading *rd, enum intake_verdict verdict)
{
    rd->verdict = verdict;
    return false;
}

static inline bool other(struct reading *rd)
{
    return stop(rd, INTAKE_OTHER);
}

/*
 * Ids.  Nearly all writers number from 1 in order; for the rest there is a
 * hash table.  Ids must be unique and not 0.
 */

static inline size_t id_slot(const struct in_ids *ids, uint64_t id)
{
    return (size_t)(hash_mix(id ^ ids->seed) >> 20) & ids->mask;
}

static inline uint32_t find_id(const struct in_ids *ids, uint64_t id, size_t n)
{
    if (!ids->used)
        return id - 1 < n ? (uint32_t)(id - 1) : NO_INDEX;
    for (size_t at = id_slot(ids, id); ids->slots[2 * at + 1];
         at = (at + 1) & ids->mask)
        if (ids->slots[2 * at] == id)
            return (uint32_t)ids->slots[2 * at + 1] - 1;
    return NO_INDEX;
}

/* wire_next() for the two types that profiles consist of. */
__attribute__((always_inline)) static inline bool
next_field(struct wire_reader *r, struct wire_field *f)
{
    uint64_t tag, n;

    if (__builtin_expect(r->at < r->end && *r->at < 0x80, 1)) {
        tag = *r->at;
        if ((tag & 7) == WIRE_VARINT) {
            r->at++;
            f->number = tag >> 3;
            f->type = WIRE_VARINT;
            return unpack_varint(r, &f->value);
        }
        if ((tag & 7) == WIRE_BYTES) {
            r->at++;
            f->number = tag >> 3;
            f->type = WIRE_BYTES;
            if (!unpack_varint(r, &n) || n > (uint64_t)(r->end - r->at))
                return false;
            f->bytes = (struct wire_reader){.at = r->at, .end = r->at + n};
            r->at += n;
            return true;
        }
    }
    return wire_next(r, f);
}

/* A field that is not in its usual short form. */
bool read_long_scalar(struct reading *rd, struct wire_reader *r, uint64_t *v,
                      size_t n);

/* The fields 1 to n of a message that has nothing but numbers.  Inlined by
 * force: with n known, clearing v and the comparisons cost next to nothing,
 * and there is one such message for each line and function. */
__attribute__((always_inline)) static inline bool
read_scalars(struct reading *rd, struct wire_reader r, uint64_t *v, size_t n)
{
    for (size_t i = 0; i <= n; i++)
        v[i] = 0;
    while (wire_more(&r)) {
        unsigned tag;
        uint64_t value;
        const unsigned char *next = wire_short_field(r.at, r.end, &tag, &value);

        if (next && (tag & 7) == WIRE_VARINT) {
            r.at = next;
            if (tag >> 3 <= n)
                v[tag >> 3] = value; /* nobody looks at v[0] */
        } else if (!read_long_scalar(rd, &r, v, n)) {
            return false;
        }
    }
    return true;
}

static inline bool text(struct reading *rd, uint64_t index, uint32_t *out)
{
    if (index >= rd->in->strings.n)
        return other(rd);
    *out = (uint32_t)index;
    return true;
}

static inline struct wire_reader span_reader(struct str s)
{
    const unsigned char *at = (const unsigned char *)s.s;

    return (struct wire_reader){.at = at, .end = at + s.n};
}

/* All messages of one kind.  Inlined by force, and `read` with it: there are
 * thousands, and each is short. */
__attribute__((always_inline)) static inline bool
read_each(struct reading *rd, unsigned number,
          bool (*read)(struct reading *rd, struct wire_reader r))
{
    for (size_t i = 0; i < rd->in->spans[number].n; i++)
        if (!read(rd, span_reader(rd->in->spans[number].v[i])))
            return false;
    return true;
}

/* Types, mappings, functions, locations; then samples. */
bool read_tables(struct reading *rd);
bool read_samples(struct reading *rd);

#endif
