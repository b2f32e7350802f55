#ifndef REPORT_SHORT_NAME_H
#define REPORT_SHORT_NAME_H

#include "base/arena.h"
#include "base/str.h"

/*
 * A function's name, shortened for a box: without the path of a Go package, the
 * package and arguments of a Java method, the namespaces of a C++ one.
 *
 *     github.com/a/b/v2/pkg.(*T).Do     pkg.(*T).Do
 *     java.util.List.add(Object)        List.add
 *     a::b::Class::method<int>(x)       Class::method<int>
 *
 * A view of `name`, or a copy from the arena.
 */
struct str short_name(struct arena *a, struct str name);

#endif
