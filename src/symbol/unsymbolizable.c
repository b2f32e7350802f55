#include "symbol/unsymbolizable.h"

#include "base/path.h"

bool symbolize_is_unsymbolizable(struct str file)
{
    struct str base = path_base(file);

    return file.n == 0 || str_has_prefix(base, STR("[")) ||
           str_has_prefix(base, STR("linux-vdso")) ||
           str_has_prefix(file, STR("/dev/dri/")) ||
           str_has_prefix(file, STR("/memfd:")) || str_eq(file, STR("//anon"));
}
