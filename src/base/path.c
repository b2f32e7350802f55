#include "base/path.h"

struct str path_base(struct str path)
{
    if (path.n == 0)
        return STR(".");
    while (path.n > 0 && path.s[path.n - 1] == '/')
        path.n--;
    if (path.n == 0)
        return STR("/");
    return str_skip(path, (size_t)(str_rfind_char(path, '/') + 1));
}

static bool is_clean(struct str path)
{
    struct str rest = path, element;

    if (path.n == 0 || (path.n > 1 && path.s[path.n - 1] == '/'))
        return false;
    if (path.s[0] == '/')
        rest = str_skip(rest, 1);
    while (str_split(&rest, '/', &element))
        if (element.n == 0 || str_eq(element, STR(".")) ||
            str_eq(element, STR("..")))
            return false;
    return true;
}

/*
 * Elements are copied one by one; ".." takes the last copied one back unless
 * there is none to take (then it stays in a relative path and is nothing in
 * an absolute one).  `floor` is how far it may go back.
 */
struct str path_clean(struct arena *a, struct str path)
{
    bool rooted = path.n > 0 && path.s[0] == '/';
    size_t n = 0, floor = rooted;
    struct str rest = path, element;
    char *out;

    if (is_clean(path))
        return path;
    out = arena_alloc(a, path.n + 1);
    if (rooted)
        out[n++] = '/';
    while (str_split(&rest, '/', &element)) {
        if (element.n == 0 || str_eq(element, STR(".")))
            continue;
        if (str_eq(element, STR("..")) && n > floor) {
            while (n > floor && out[n - 1] != '/')
                n--;
            if (n > floor)
                n--;
            continue;
        }
        if (str_eq(element, STR("..")) && rooted)
            continue;
        if (n > (size_t)rooted)
            out[n++] = '/';
        memcpy(out + n, element.s, element.n);
        n += element.n;
        if (str_eq(element, STR("..")))
            floor = n;
    }
    if (n == 0)
        return STR(".");
    return str_of(out, n);
}

struct str path_dir(struct arena *a, struct str path)
{
    return path_clean(a,
                      str_first(path, (size_t)(str_rfind_char(path, '/') + 1)));
}
