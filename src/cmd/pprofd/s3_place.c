#include "cmd/pprofd/s3_place.h"

#include <stdlib.h>
#include <string.h>

#define SCHEME "s3://"

bool s3_is_place(struct str word)
{
    return str_has_prefix(word, STR(SCHEME));
}

static bool is_bucket_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (str_digit(name.s[i]) == 99 && !strchr(".-_", name.s[i]))
            return false;
    return name.n >= 3 && name.n <= 63;
}

bool s3_place_parse(struct arena *a, struct str word, struct s3_place *out,
                    struct error *err)
{
    struct str rest = str_skip(word, sizeof(SCHEME) - 1);

    if (!s3_is_place(word) || !str_split(&rest, '/', &out->bucket) ||
        !is_bucket_name(out->bucket))
        return error_set(err, "%" STR_FMT ": must be s3://BUCKET/PREFIX",
                         STR_ARG(word));
    while (str_has_suffix(rest, STR("/")))
        rest.n--;
    out->prefix =
        rest.n ? str_from(arena_printf(a, "%" STR_FMT "/", STR_ARG(rest)))
               : STR("");
    return true;
}

static struct str from_environment(const char *name, const char *other)
{
    const char *value = getenv(name);

    if ((!value || !*value) && other)
        value = getenv(other);
    return str_from(value);
}

bool s3_settings_read(struct str word, struct str endpoint,
                      struct s3_settings *out, struct error *err)
{
    *out = (struct s3_settings){
        .endpoint =
            endpoint.n ? endpoint : from_environment("AWS_ENDPOINT_URL", NULL),
        .region = from_environment("AWS_REGION", "AWS_DEFAULT_REGION"),
        .key_id = from_environment("AWS_ACCESS_KEY_ID", NULL),
        .secret = from_environment("AWS_SECRET_ACCESS_KEY", NULL),
        .token = from_environment("AWS_SESSION_TOKEN", NULL),
        .ca_file = from_environment("AWS_CA_BUNDLE", NULL),
    };
    if (out->key_id.n == 0 || out->secret.n == 0)
        return error_set(err,
                         "%" STR_FMT ": set AWS_ACCESS_KEY_ID and "
                         "AWS_SECRET_ACCESS_KEY in the environment",
                         STR_ARG(word));
    return true;
}
