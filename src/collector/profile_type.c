#include "collector/profile_type.h"

#include <string.h>

bool profile_type_is_valid(struct str type)
{
    if (type.n == 0 || type.n > PROFILE_TYPE_MAX ||
        str_eq(type, STR("unknown")))
        return false;
    for (size_t i = 0; i < type.n; i++) {
        char c = type.s[i];

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') &&
            (i == 0 || !memchr("_-./:", c, 5)))
            return false;
    }
    return true;
}

bool profile_type_is_opaque(struct str type)
{
    return str_eq(type, STR("trace"));
}
