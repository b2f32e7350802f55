#ifndef PAGE_FILE_SOURCE_H
#define PAGE_FILE_SOURCE_H

#include "page/page_source.h"
#include "profile/diff.h"

/*
 * The profiles of a command line as a page_source: the sum of all sources
 * (selection "1", also ""), each of them alone, and profiles that were added
 * since by dropping a file or by fetching again.
 *
 * Selections are numbers in decimal and are never used twice, so each is its
 * own content id.  Profiles stay in memory; a request works on a copy,
 * because reports filter in place.
 */
#define FILE_SOURCE_MAX_ADDED 16
#define FILE_SOURCE_MAX_NAME  200 /* bytes */

/* Texts outlive the source. */
struct file_source_options {
    struct str name;      /* what the user called the profile */
    struct str base_name; /* the same of its base; "" if there is none */

    /* What the program does for the source; each may be NULL.  `fetch` is
     * called by one thread at a time. */
    void *arg;
    /* The profile, and its base, again from where they came. */
    bool (*fetch)(void *arg, struct profile_pair *out, struct error *err);
    /* The last steps, after the base has been subtracted. */
    bool (*finish)(void *arg, struct profile *p, struct error *err);
    /* One of `names` alone, by its index. */
    struct profile *(*load)(void *arg, size_t index, struct error *err);
    /* Symbols for a profile that was dropped onto the page. */
    bool (*adopt)(void *arg, struct profile *p, struct error *err);

    const struct str *names; /* of the sources that `load` can load */
    size_t n_names;

    bool marks_base; /* samples of the base stay apart: -diff_base, not -base */
    bool normalizes; /* -normalize, for a base that two profiles share */
    bool is_local;   /* only this machine can add profiles: larger limits */
};

/* Owns both profiles.  A base is subtracted for each request, normalised as
 * that request wishes.  page_free() releases the source. */
struct page_source file_source(struct profile_pair pair,
                               const struct file_source_options *options);

#endif
