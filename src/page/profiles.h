#ifndef PAGE_PROFILES_H
#define PAGE_PROFILES_H

#include <pthread.h>

#include "base/json.h"
#include "page/page.h"

/*
 * The profiles that a page can show: that of the command line (id 1), the
 * single sources that it is the sum of, and those that were added since, by
 * dropping a file or by fetching again.  Ids are never used twice.
 */
#define PROFILES_MAX_ADDED 16
#define PROFILES_MAX_NAME  200

struct page_profile {
    uint32_t id;
    char *name;
    struct profile_pair pair; /* NULL: a source that nobody asked for yet */
    size_t source;            /* for options.load */
    bool is_added;
    bool is_dropped; /* a stranger may have made it */
};

struct profiles {
    const struct page_options *options;
    pthread_rwlock_t lock; /* of all below; who reads a profile holds it */
    struct page_profile *list;
    size_t n;
    uint32_t last_id;
    pthread_mutex_t fetching;
};

/* Owns both profiles. */
void profiles_init(struct profiles *ps, struct profile_pair pair,
                   const struct page_options *options);
void profiles_release(struct profiles *ps);

/* Which profiles a request is about: texts of its query, "" for none. */
struct profile_choice {
    struct str profile, base;
    bool normalize; /* scale to the base's totals */
};

/*
 * A copy for the caller to use up and free.  With a base it is the
 * difference, the base's samples marked as by -diff_base; a base that the
 * command line compares with counts no more then.  *is_trusted: no stranger
 * chose the names of files in it.
 */
struct profile *profiles_take(struct profiles *ps,
                              const struct profile_choice *choice,
                              bool *is_trusted, struct error *err);

/* Is there a base, so that `normalize` means something? */
bool profiles_have_base(struct profiles *ps,
                        const struct profile_choice *choice);

/* Adds what was dropped onto the page, and gives its id. */
bool profiles_add(struct profiles *ps, struct str name, struct str bytes,
                  uint32_t *id, struct error *err);

/* Fetches the first one again and adds that. */
bool profiles_fetch(struct profiles *ps, uint32_t *id, struct error *err);

/* Forgets one that was added. */
bool profiles_remove(struct profiles *ps, struct str id, struct error *err);

/* Appends "profiles": [{id, name, added}]. */
void profiles_add_json(struct json *j, struct profiles *ps);

#endif
