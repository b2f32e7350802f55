/*
 * The functions of <pprof/pprof.h> for profiles that the program defines.
 */
#include <errno.h>

#include "pprof/pprof.h"
#include "runtime/api.h"
#include "runtime/own_thread.h"
#include "runtime/profiles.h"
#include "runtime/write/custom.h"

struct pprof_profile *pprof_profile_new(const char *name)
{
    struct own_scope scope = own_scope_enter(__builtin_return_address(0));
    struct pprof_profile *p = NULL;
    struct error err = {""};
    int code = EEXIST;

    if (name && profiles_is_reserved(str_from(name)))
        error_set(&err, "a profile \"%s\" already exists", name);
    else
        p = custom_new(name, &code, &err);
    own_scope_restore(&scope);
    if (!p)
        errno = -api_fail(code, &err);
    return p;
}

int pprof_profile_add(struct pprof_profile *p, const void *key, long long value)
{
    struct error err = {""};
    int code = custom_add(p, key, value, __builtin_return_address(0), &err);

    return code ? api_fail(code, &err) : 0;
}

int pprof_profile_remove(struct pprof_profile *p, const void *key)
{
    return custom_remove(p, key) ? 0 : -ENOENT;
}

long long pprof_profile_count(const struct pprof_profile *p)
{
    return (long long)custom_count(p);
}
