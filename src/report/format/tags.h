#ifndef REPORT_FORMAT_TAGS_H
#define REPORT_FORMAT_TAGS_H

#include "base/vec.h"
#include "report/context.h"

/*
 * The labels of a profile with the weight of their samples: what -tags prints,
 * and the page's lists of labels.
 */
struct tag {
    struct str key;
    struct str name; /* the value as text: a number has its unit */
    string_id key_id, name_id;
    bool is_number;
    int64_t weight;
};

struct tag_list {
    VEC(struct tag) tags; /* by key, then the heaviest first */
};

/* Memory comes from the report's arena. */
void tags_collect(struct tag_list *out, struct report *r);

/* How many tags from the first one on have its key; n > 0. */
size_t tags_of_key(const struct tag *tags, size_t n);

#endif
