#include "report/path_trim.h"

#include "base/path.h"

/* Everything after the first "/name/" in path; false when there is none. */
static bool cut_through(struct str path, struct str name, struct str *out)
{
    size_t n = name.n + 2;

    for (size_t i = 0; i + n <= path.n; i++) {
        if (path.s[i] != '/' || path.s[i + n - 1] != '/' ||
            !str_eq(str_of(path.s + i + 1, name.n), name))
            continue;
        *out = str_skip(path, i + n);
        return true;
    }
    return false;
}

/* path without `prefix` as a directory. */
static bool cut_prefix(struct str path, struct str prefix, struct str *out)
{
    if (!str_has_prefix(path, prefix))
        return false;
    path = str_skip(path, prefix.n);
    if (!str_has_suffix(prefix, STR("/"))) {
        if (!str_has_prefix(path, STR("/")))
            return false;
        path = str_skip(path, 1);
    }
    *out = path;
    return true;
}

struct str path_trim(struct str path, struct str trim_path,
                     struct str source_path)
{
    struct str rest, item, cut;

    rest = trim_path.n == 0 ? source_path : STR("");
    while (str_split(&rest, ':', &item))
        if (cut_through(path, path_base(item), &cut))
            return cut;
    rest = trim_path;
    while (str_split(&rest, ':', &item))
        if (cut_prefix(path, item, &cut))
            return cut;
    if (cut_prefix(path, STR("/proc/self/cwd/./"), &cut) ||
        cut_prefix(path, STR("/proc/self/cwd/"), &cut))
        return cut;
    return path;
}
