#ifndef COLLECTOR_PROFEFE_REPLY_H
#define COLLECTOR_PROFEFE_REPLY_H

#include "base/buf.h"
#include "store/store.h"

/*
 * What profefe's API says about a profile:
 *
 *     {"id":"…","type":"cpu","service":"api",
 *      "labels":[{"key":"region","value":"eu"}],
 *      "created_at":"2019-05-30T21:10:05Z"}
 *
 * (in one line; labels only if there are any).
 */
void profefe_add_profile(struct buf *out, const struct store_profile *p);

#endif
