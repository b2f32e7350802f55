/*
 * The state per address is in the table of peers, which forgets addresses;
 * one that comes back gets its line early, and the limit for all together
 * bounds that.
 */
#include "http/server/refusals.h"

#include "base/clock.h"

static bool is_due(struct refusals *r, const struct peer *peer, int64_t now_ns)
{
    if (r->lines == 0 || now_ns - r->minute_ns >= MINUTE) {
        r->minute_ns = now_ns;
        r->lines = 0;
    }
    return r->lines < REFUSALS_LINES_PER_MINUTE &&
           (peer->told_ns == 0 || now_ns - peer->told_ns >= MINUTE);
}

bool refusals_note(struct refusals *r, struct peer *peer,
                   const struct http_client *client, int status,
                   struct str reason, struct str path, int64_t now_ns,
                   struct buf *line)
{
    if (!is_due(r, peer, now_ns)) {
        peer->untold++;
        return false;
    }
    buf_addf(line, "refused from=%" STR_FMT " status=%d reason=",
             STR_ARG(http_client_host(client)), status);
    http_add_quoted(line, reason);
    buf_add(line, STR(" path="));
    http_add_quoted(line, path);
    if (peer->untold)
        buf_addf(line, " more=%u", peer->untold);
    peer->untold = 0;
    peer->told_ns = now_ns;
    r->lines++;
    return buf_ok(line);
}
