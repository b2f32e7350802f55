#include "test.h"

#include "symbol/demangle.h"

static void expect(const char *mangled, enum demangle_mode mode,
                   const char *want)
{
    struct buf out = BUF_INIT(BUF_NO_LIMIT);
    bool ok = demangle_name(str_from(mangled), mode, &out);

    EXPECT(ok == (want != NULL));
    if (ok && want)
        EXPECT_STR(buf_str(&out), want);
    buf_release(&out);
}

TEST(each_mode_drops_what_it_says)
{
    const char *push = "_ZNSt6vectorIiSaIiEE9push_backEOi";

    expect(push, DEMANGLE_SIMPLE, "std::vector::push_back");
    expect(push, DEMANGLE_TEMPLATES,
           "std::vector<int, std::allocator<int> >::push_back");
    expect(push, DEMANGLE_FULL,
           "std::vector<int, std::allocator<int> >::push_back(int&&)");
    expect(push, DEMANGLE_NONE, NULL);
}

TEST(return_types_and_const_go_with_the_parameters)
{
    expect("_Z3maxIiET_S0_S0_", DEMANGLE_SIMPLE, "max");
    expect("_Z3maxIiET_S0_S0_", DEMANGLE_FULL, "int max<int>(int, int)");
    expect("_ZNK3Foo3barEv", DEMANGLE_SIMPLE, "Foo::bar");
}

TEST(an_enclosing_function_loses_its_parameters)
{
    expect("_ZZ4mainiE3foo", DEMANGLE_SIMPLE, "main::foo");
    expect("_ZZN3Foo3barEiENKUlvE_clEv", DEMANGLE_SIMPLE,
           "Foo::bar::{lambda()#1}::operator()");
}

TEST(clones_are_dropped_unless_full)
{
    expect("_Z3fooi.part.0", DEMANGLE_SIMPLE, "foo");
    expect("_Z3fooi.part.0", DEMANGLE_TEMPLATES, "foo");
}

TEST(operators_keep_their_brackets)
{
    expect("_ZlsRSoRK3Foo", DEMANGLE_SIMPLE, "operator<<");
    expect("_ZN3FooltERKS_", DEMANGLE_SIMPLE, "Foo::operator<");
    expect("_ZN3FooclEv", DEMANGLE_SIMPLE, "Foo::operator()");
}

TEST(rust_names_lose_hash_and_generics)
{
    expect("_ZN3foo3bar17h0123456789abcdefE", DEMANGLE_SIMPLE, "foo::bar");
    expect("_RNvC6_123foo3bar", DEMANGLE_SIMPLE, "123foo::bar");
    expect("_RINvNtC3std3mem8align_ofjE", DEMANGLE_SIMPLE,
           "std::mem::align_of");
    expect("_RINvNtC3std3mem8align_ofjE", DEMANGLE_TEMPLATES,
           "std::mem::align_of::<usize>");
    expect("_RNvXCs15kBYyAo9fc_7mycrateNtB2_3FooNtB2_3Bar3baz", DEMANGLE_SIMPLE,
           "<mycrate::Foo as mycrate::Bar>::baz");
}

TEST(plain_names_are_not_demangled)
{
    expect("main", DEMANGLE_SIMPLE, NULL);
    expect("_start", DEMANGLE_SIMPLE, NULL);
    expect("runtime.main", DEMANGLE_SIMPLE, NULL);
    expect("", DEMANGLE_SIMPLE, NULL);
    expect("__ZN3Foo3barEv", DEMANGLE_SIMPLE, "Foo::bar");
}

static struct str name_in_profile(const char *name, const char *system_name,
                                  enum demangle_mode mode, bool force,
                                  char *copy)
{
    struct profile *p = profile_new();
    struct function *f = vec_push(p->arena, &p->functions);
    struct str got;

    f->name = profile_intern(p, str_from(name));
    f->system_name = profile_intern(p, str_from(system_name));
    demangle_profile(p, mode, force);
    got = profile_str(p, f->name);
    memcpy(copy, got.s, got.n);
    profile_free(p);
    return str_of(copy, got.n);
}

TEST(functions_with_another_name_stay_unless_forced)
{
    char copy[256];

    EXPECT_STR(
        name_in_profile("x", "_ZN3Foo3barEv", DEMANGLE_SIMPLE, false, copy),
        "x");
    EXPECT_STR(
        name_in_profile("x", "_ZN3Foo3barEv", DEMANGLE_SIMPLE, true, copy),
        "Foo::bar");
    EXPECT_STR(
        name_in_profile("", "_ZN3Foo3barEv", DEMANGLE_SIMPLE, false, copy),
        "Foo::bar");
}

TEST(names_that_were_demangled_in_full_are_shortened)
{
    const char *push = "_ZNSt6vectorIiSaIiEE9push_backEOi";
    const char *full =
        "std::vector<int, std::allocator<int> >::push_back(int&&)";
    char copy[256];

    EXPECT_STR(name_in_profile(full, push, DEMANGLE_SIMPLE, false, copy),
               "std::vector::push_back");
    EXPECT_STR(name_in_profile(full, push, DEMANGLE_TEMPLATES, false, copy),
               "std::vector<int, std::allocator<int> >::push_back");
    EXPECT_STR(name_in_profile(full, push, DEMANGLE_FULL, false, copy), full);
    EXPECT_STR(name_in_profile(full, push, DEMANGLE_NONE, false, copy), full);
    /* Without the blanks that libiberty writes. */
    EXPECT_STR(name_in_profile(
                   "std::vector<int,std::allocator<int>>::push_back(int&&)",
                   push, DEMANGLE_SIMPLE, false, copy),
               "std::vector::push_back");
    /* Somebody's own name. */
    EXPECT_STR(
        name_in_profile("push_back(int)", push, DEMANGLE_SIMPLE, false, copy),
        "push_back(int)");
}

TEST(names_that_look_like_cpp_lose_groups_by_mode)
{
    const char *name = "ns::f<int>(char, g<x>)";
    char copy[256];

    EXPECT_STR(name_in_profile(name, name, DEMANGLE_SIMPLE, false, copy),
               "ns::f");
    EXPECT_STR(name_in_profile(name, name, DEMANGLE_TEMPLATES, false, copy),
               "ns::f<int>");
    EXPECT_STR(name_in_profile(name, name, DEMANGLE_FULL, false, copy), name);
    name = "(anonymous namespace)::Foo";
    EXPECT_STR(name_in_profile(name, name, DEMANGLE_SIMPLE, false, copy),
               "::Foo");
    name = "main.(*T[go.shape.int]).f";
    EXPECT_STR(name_in_profile(name, name, DEMANGLE_SIMPLE, false, copy), name);
    name = "a)b::c(d)";
    EXPECT_STR(name_in_profile(name, name, DEMANGLE_SIMPLE, false, copy), name);
}

TEST_MAIN
