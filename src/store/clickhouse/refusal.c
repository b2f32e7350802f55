/*
 * Exceptions of ClickHouse, which come as text:
 *
 *     Code: 241, e.displayText() = DB::Exception: …, e.what() = …     (18.16)
 *     Code: 241. DB::Exception: … (MEMORY_LIMIT_EXCEEDED) (version …) (26.x)
 */
#include "store/clickhouse/refusal.h"

#include "base/error.h"

enum { WORDS_BYTES = 130 }; /* of ClickHouse's, which can be long */

struct meaning {
    int code;
    enum store_status status;
    const char *advice; /* or NULL: its words say it all */
};

#define SPACE_ADVICE "its disk is full: free space or lower retention.raw"

static const struct meaning meanings[] = {
    {32, STORE_BUSY, NULL},     /* ATTEMPT_TO_READ_AFTER_EOF, of a shard */
    {158, STORE_LIMITED, NULL}, /* TOO_MANY_ROWS */
    {159, STORE_LIMITED, NULL}, /* TIMEOUT_EXCEEDED */
    {160, STORE_LIMITED, NULL}, /* TOO_SLOW */
    {164, STORE_BUSY,
     "the user may only read (readonly): let it INSERT"}, /* READONLY */
    {192, STORE_FAILED, "check the user in --store"},     /* UNKNOWN_USER */
    {193, STORE_FAILED, "check --store-password-file"},   /* WRONG_PASSWORD */
    {202, STORE_BUSY,
     "raise max_concurrent_queries"}, /* TOO_MANY_SIMULTANEOUS_QUERIES */
    {203, STORE_BUSY, NULL},          /* NO_FREE_CONNECTION */
    {209, STORE_BUSY, NULL},          /* SOCKET_TIMEOUT */
    {210, STORE_BUSY, NULL},          /* NETWORK_ERROR */
    {225, STORE_BUSY, "configure ZooKeeper or Keeper"}, /* NO_ZOOKEEPER */
    {236, STORE_BUSY, NULL},                            /* ABORTED */
    {241, STORE_LIMITED, NULL}, /* MEMORY_LIMIT_EXCEEDED */
    {242, STORE_BUSY,
     "this replica is read-only: check its ZooKeeper or Keeper and "
     "system.replicas"},             /* TABLE_IS_READ_ONLY */
    {243, STORE_BUSY, SPACE_ADVICE}, /* NOT_ENOUGH_SPACE */
    {252, STORE_BUSY,
     "it merges more slowly than profiles arrive: give it faster disks, or "
     "add a shard"},         /* TOO_MANY_PARTS */
    {254, STORE_BUSY, NULL}, /* NO_ACTIVE_REPLICAS */
    {279, STORE_BUSY, "a shard does not answer: check system.clusters"},
    {285, STORE_BUSY, NULL},      /* TOO_FEW_LIVE_REPLICAS */
    {307, STORE_LIMITED, NULL},   /* TOO_MANY_BYTES */
    {319, STORE_BUSY, NULL},      /* UNKNOWN_STATUS_OF_INSERT */
    {394, STORE_CANCELLED, NULL}, /* QUERY_WAS_CANCELLED */
    {396, STORE_LIMITED, NULL},   /* TOO_MANY_ROWS_OR_BYTES */
    {516, STORE_FAILED, "check the user in --store and --store-password-file"},
    {999, STORE_BUSY, "check ZooKeeper or Keeper"}, /* KEEPER_EXCEPTION */
};

static int exception_code(struct str words)
{
    uint64_t code = 0;
    size_t n = 0;

    if (!str_has_prefix(words, STR("Code: ")))
        return 0;
    words = str_skip(words, 6);
    while (n < words.n && words.s[n] >= '0' && words.s[n] <= '9' && n < 6)
        n++;
    str_to_u64(str_first(words, n), 10, &code);
    return (int)code;
}

static const struct meaning *find_meaning(int code)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
        if (meanings[i].code == code)
            return &meanings[i];
    return NULL;
}

/* A write that failed in the middle has the code of the write. */
static bool is_out_of_space(struct str words)
{
    return str_find(words, STR("No space left on device")) >= 0;
}

struct refusal refusal_read(struct str words, long http_status)
{
    struct refusal r = {exception_code(words), STORE_FAILED};
    const struct meaning *m = find_meaning(r.code);

    if (!r.code) /* a proxy's, or not ClickHouse at all */
        r.status = http_status >= 500 ? STORE_BUSY : STORE_FAILED;
    else if (is_out_of_space(words))
        r.status = STORE_BUSY;
    else if (m)
        r.status = m->status;
    return r;
}

/* Its words without the parts that are for its developers. */
static struct str short_words(struct str words)
{
    static const char *const ends[] = {", e.what()", " (version ",
                                       ": While executing", "\n"};
    ptrdiff_t at = str_find(words, STR("DB::Exception: "));

    if (at >= 0)
        words = str_skip(words, (size_t)at + 15);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        ptrdiff_t end = str_find(words, str_from(ends[i]));

        if (end >= 0)
            words = str_first(words, (size_t)end);
    }
    return str_trim(
        str_first(words, words.n < WORDS_BYTES ? words.n : WORDS_BYTES));
}

void refusal_describe(const struct refusal *r, struct str words,
                      const char *host, struct error *err)
{
    const struct meaning *m = find_meaning(r->code);
    const char *advice = m ? m->advice : NULL;
    struct str said = short_words(words);

    if (r->code && is_out_of_space(words))
        advice = SPACE_ADVICE;
    if (!said.n)
        said = STR("an error without words");
    error_set(err, "ClickHouse at %s: %" STR_FMT "%s%s", host, STR_ARG(said),
              advice ? "; " : "", advice ? advice : "");
}
