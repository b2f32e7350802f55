/*
 * Names of certificates against a list.  A name is compared only with entries
 * of its own kind: a common name "pod.example" is not the DNS name.
 */
#include "http/tls/certificate.h"

/* "CN:alice" taken apart; false for an entry without a kind. */
static bool split_kind(struct str entry, struct str *kind, struct str *name)
{
    static const struct str kinds[] = {STR_INIT("CN"), STR_INIT("DNS"),
                                       STR_INIT("EMAIL"), STR_INIT("URI"),
                                       STR_INIT("IP")};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        *kind = kinds[i];
        if (entry.n > kind->n && str_has_prefix(entry, *kind) &&
            entry.s[kind->n] == ':') {
            *name = str_skip(entry, kind->n + 1);
            return true;
        }
    }
    return false;
}

static bool matches(struct str pattern, struct str name, bool any_case)
{
    bool open_end = str_has_suffix(pattern, STR("*"));

    if (open_end)
        pattern.n--;
    if (open_end ? name.n < pattern.n : name.n != pattern.n)
        return false;
    name.n = pattern.n;
    return any_case ? str_eq_nocase(pattern, name) : str_eq(pattern, name);
}

static bool is_among(struct str entry, struct str names)
{
    struct str kind, wanted, one, its_kind, its_name;

    if (!split_kind(entry, &kind, &wanted)) {
        kind = str_contains(entry, STR("://")) ? STR("URI") : STR("CN");
        wanted = entry;
    }
    while (str_split(&names, '\0', &one))
        if (split_kind(one, &its_kind, &its_name) && str_eq(kind, its_kind) &&
            matches(wanted, its_name, str_eq(kind, STR("DNS"))))
            return true;
    return false;
}

bool certificate_is_listed(struct str names, struct str list)
{
    struct str entry;

    while (str_split(&list, ',', &entry)) {
        entry = str_trim(entry);
        if (entry.n > 0 && is_among(entry, names))
            return true;
    }
    return false;
}

struct str certificate_first_name(struct str names)
{
    struct str first;

    return str_split(&names, '\0', &first) ? first : STR("");
}
