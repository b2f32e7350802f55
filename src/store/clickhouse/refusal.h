#ifndef STORE_CLICKHOUSE_REFUSAL_H
#define STORE_CLICKHOUSE_REFUSAL_H

#include "store/store.h"

/*
 * What ClickHouse means when its reply is not 200: the code of its exception,
 * what that is for us, and a sentence for the user.
 */
struct refusal {
    int code; /* of the exception; 0: the words are not ClickHouse's */
    enum store_status status;
};

/* `http_status` decides if the words are somebody else's, as a proxy's. */
struct refusal refusal_read(struct str words, long http_status);

/* "ClickHouse at HOST: what happened; what to do". */
void refusal_describe(const struct refusal *r, struct str words,
                      const char *host, struct error *err);

#endif
