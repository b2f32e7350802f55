#ifndef PROFILE_FINGERPRINT_H
#define PROFILE_FINGERPRINT_H

#include <stdint.h>

#include "base/str.h"
#include "profile/profile.h"

/*
 * 64-bit hashes of contents: of functions, locations, stacks and label sets.
 *
 * Equal contents have equal fingerprints in every process, on every machine
 * and in every release, whatever ids and order a file gave them and wherever
 * its mappings were.  So results of several profiles, segments or collectors
 * can be joined without asking each other.  The algorithm below can therefore
 * never change; test_fingerprint.c holds values that were computed by another
 * implementation.
 *
 * Algorithm.  All arithmetic is modulo 2^64.
 *
 *     step(h, w):  z = (h ^ w) + 0x9e3779b97f4a7c15
 *                  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9
 *                  z = (z ^ z >> 27) * 0x94d049bb133111eb
 *                  z ^ z >> 31
 *     (splitmix64: for a fixed h no two words w have the same result, and for
 *     a fixed w no two h.)
 *
 *     text s:      h = step(1, length); then step with every 8 bytes as a
 *                  little-endian number, the last ones filled up with zeros
 *     function:    step from 2 with name, system name, file name (each as the
 *                  hash of the text) and start line
 *     location:    step from 3 with the binary's kind (1: it has a build id,
 *                  2: only a file name, 0: neither or no mapping), the hash of
 *                  the build id or file name (0 for kind 0), the address, 1 if
 *                  folded else 0, the number of lines; then for every line,
 *                  innermost first, the function's fingerprint (0: none), line
 *                  and column
 *     stack:       h = 4 for the empty one; then step(h, location) from the
 *                  root to the leaf, so that a node of a call tree follows
 *                  from its parent's
 *     label set:   h = 5; then for every label in the order of the model: kind
 *                  (0 text, 1 number, 2 number with unit), hash of the key,
 *                  hash of the text or unit, number
 *
 * The address of a location is relative to its file: address - mapping.start +
 * mapping.offset.  So position-independent programs have the same ones in
 * every process.  Address 0 stays 0, and so do all addresses of kind 0.
 *
 * Collisions.  Among n different contents the chance that any two have the same
 * fingerprint is about n^2 / 2^65: 3 in 100 million for a million, 3 in 10,000
 * for a hundred million.  That is for contents that nobody chose to collide.
 * The hash has no secret: anybody who can choose names can create two that
 * collide, and their values are then added up.  Do not use fingerprints for
 * access control.
 */
uint64_t fingerprint_text(struct str text);
uint64_t fingerprint_step(uint64_t h, uint64_t word);

#define FINGERPRINT_EMPTY_STACK 4u

/* The stack that has one more frame, called by `stack`. */
static inline uint64_t fingerprint_call(uint64_t stack, uint64_t location)
{
    return fingerprint_step(stack, location);
}

/*
 * The fingerprints of everything in a profile that samples refer to; each
 * text, function and location is hashed once.
 */
struct fingerprints {
    const struct profile *profile; /* must not change meanwhile */
    uint64_t *texts;               /* by string id */
    uint64_t *functions;           /* by index */
    uint64_t *locations;
};

void fingerprints_make(struct fingerprints *f, struct arena *a,
                       const struct profile *p);

/* Of one sample. */
uint64_t fingerprint_stack(const struct fingerprints *f, size_t sample);
uint64_t fingerprint_labels(const struct fingerprints *f, size_t sample);

#endif
