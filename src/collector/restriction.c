/*
 * The list of services as a matcher: its function asks the guard, and its
 * text is for stores that evaluate regular expressions themselves.
 */
#include "collector/restriction.h"

#include <string.h>

#include "base/buf.h"
#include "http/access/guard.h"

static bool is_readable(void *identity, struct str service)
{
    return guard_allows(identity, HTTP_MAY_READ, service);
}

/* "api,web-*" as a regular expression: api|web-.* */
static struct str as_expression(struct arena *a, const char *services)
{
    struct buf out = arena_buf(a);

    for (const char *s = services; *s; s++) {
        if (*s == ',')
            buf_add_char(&out, '|');
        else if (*s == '*')
            buf_add(&out, STR(".*"));
        else if (strchr("\\.+?()|[]{}^$", *s))
            buf_addf(&out, "\\%c", *s);
        else if (*s != ' ')
            buf_add_char(&out, *s);
    }
    return buf_str(&out);
}

bool restriction_of(struct http_identity *who, struct arena *a,
                    struct store_matcher *out)
{
    if (who->services[0] == '\0')
        return false;
    *out = (struct store_matcher){.field = STORE_SERVICE,
                                  .op = STORE_MATCH,
                                  .value = as_expression(a, who->services),
                                  .matches = is_readable,
                                  .arg = who};
    return true;
}
