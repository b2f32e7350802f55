/*
 * libiberty demangles; it can leave out the parameters of the function
 * itself, but not template arguments nor the parameters of a function around
 * it.  For these the parsed name is edited before it is printed: a template
 * node is replaced by its name, an enclosing function by its name.  A name
 * that cannot be printed after that (its template parameters have lost what
 * they stood for) is cut as text instead.
 */
#include "symbol/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>

typedef struct demangle_component node;

/* Names from hostile files must not exhaust the stack. */
#define MAX_DEPTH 512

/* Longer symbols keep their mangled name. */
#define MAX_SYMBOL ((size_t)1 << 20)

static bool has_two_children(const node *n)
{
    switch (n->type) {
    case DEMANGLE_COMPONENT_QUAL_NAME:
    case DEMANGLE_COMPONENT_LOCAL_NAME:
    case DEMANGLE_COMPONENT_TYPED_NAME:
    case DEMANGLE_COMPONENT_VTABLE:
    case DEMANGLE_COMPONENT_VTT:
    case DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE:
    case DEMANGLE_COMPONENT_TYPEINFO:
    case DEMANGLE_COMPONENT_TYPEINFO_NAME:
    case DEMANGLE_COMPONENT_TYPEINFO_FN:
    case DEMANGLE_COMPONENT_THUNK:
    case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
    case DEMANGLE_COMPONENT_COVARIANT_THUNK:
    case DEMANGLE_COMPONENT_GUARD:
    case DEMANGLE_COMPONENT_TLS_INIT:
    case DEMANGLE_COMPONENT_TLS_WRAPPER:
    case DEMANGLE_COMPONENT_REFTEMP:
    case DEMANGLE_COMPONENT_RESTRICT:
    case DEMANGLE_COMPONENT_VOLATILE:
    case DEMANGLE_COMPONENT_CONST:
    case DEMANGLE_COMPONENT_RESTRICT_THIS:
    case DEMANGLE_COMPONENT_VOLATILE_THIS:
    case DEMANGLE_COMPONENT_CONST_THIS:
    case DEMANGLE_COMPONENT_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_POINTER:
    case DEMANGLE_COMPONENT_REFERENCE:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
    case DEMANGLE_COMPONENT_FUNCTION_TYPE:
    case DEMANGLE_COMPONENT_ARRAY_TYPE:
    case DEMANGLE_COMPONENT_PTRMEM_TYPE:
    case DEMANGLE_COMPONENT_ARGLIST:
    case DEMANGLE_COMPONENT_CONVERSION:
    case DEMANGLE_COMPONENT_TAGGED_NAME:
    case DEMANGLE_COMPONENT_CLONE:
        return true;
    default:
        return false;
    }
}

static node *without_templates(node *n, int depth)
{
    if (!n || depth++ > MAX_DEPTH)
        return n;
    if (n->type == DEMANGLE_COMPONENT_TEMPLATE)
        return without_templates(n->u.s_binary.left, depth);
    if (n->type == DEMANGLE_COMPONENT_CTOR) {
        n->u.s_ctor.name = without_templates(n->u.s_ctor.name, depth);
    } else if (n->type == DEMANGLE_COMPONENT_DTOR) {
        n->u.s_dtor.name = without_templates(n->u.s_dtor.name, depth);
    } else if (n->type == DEMANGLE_COMPONENT_LAMBDA) {
        n->u.s_unary_num.sub = without_templates(n->u.s_unary_num.sub, depth);
    } else if (has_two_children(n)) {
        n->u.s_binary.left = without_templates(n->u.s_binary.left, depth);
        n->u.s_binary.right = without_templates(n->u.s_binary.right, depth);
    }
    return n;
}

static bool is_this_qualifier(const node *n)
{
    return n->type == DEMANGLE_COMPONENT_RESTRICT_THIS ||
           n->type == DEMANGLE_COMPONENT_VOLATILE_THIS ||
           n->type == DEMANGLE_COMPONENT_CONST_THIS ||
           n->type == DEMANGLE_COMPONENT_REFERENCE_THIS ||
           n->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS;
}

static node *function_name(node *n)
{
    while (n &&
           (n->type == DEMANGLE_COMPONENT_TYPED_NAME || is_this_qualifier(n)))
        n = n->u.s_binary.left;
    return n;
}

static node *without_enclosing_params(node *n, int depth)
{
    node **left, **right;

    if (!n || depth++ > MAX_DEPTH)
        return n;
    left = &n->u.s_binary.left;
    right = &n->u.s_binary.right;
    switch (n->type) {
    case DEMANGLE_COMPONENT_LOCAL_NAME:
        *left = without_enclosing_params(function_name(*left), depth);
        *right = without_enclosing_params(*right, depth);
        break;
    case DEMANGLE_COMPONENT_QUAL_NAME:
        *left = without_enclosing_params(*left, depth);
        *right = without_enclosing_params(*right, depth);
        break;
    case DEMANGLE_COMPONENT_TEMPLATE:
        *left = without_enclosing_params(*left, depth);
        break;
    default:
        break;
    }
    return n;
}

/* Takes balanced groups away: f(int)::g(char) -> f::g.  Text whose closing
 * brackets do not fit is left as it is from there on. */
static char *remove_groups(char *text, char open, char close)
{
    size_t to = 0, first = 0;
    int nesting = 0;

    for (size_t i = 0; text[i]; i++) {
        text[to++] = text[i];
        if (text[i] == open && nesting++ == 0)
            first = to - 1;
        if (text[i] != close)
            continue;
        if (--nesting < 0) {
            size_t rest = strlen(text + i + 1);

            memmove(text + to, text + i + 1, rest);
            to += rest;
            break;
        }
        if (nesting == 0)
            to = first;
    }
    text[to] = '\0';
    return text;
}

static char *demangle_cpp(const char *mangled, enum demangle_mode mode)
{
    char *name = NULL;
    void *memory;
    size_t allocated;
    node *n;

    if (mode == DEMANGLE_FULL)
        return cplus_demangle_v3(mangled, DMGL_PARAMS);
    n = cplus_demangle_v3_components(mangled, DMGL_NO_OPTS, &memory);
    if (!n)
        return NULL;
    n = without_enclosing_params(n, 0);
    if (mode == DEMANGLE_SIMPLE)
        n = without_templates(n, 0);
    name = cplus_demangle_print(DMGL_NO_OPTS, n, 64, &allocated);
    free(memory);
    if (name)
        return name;
    name = cplus_demangle_v3(mangled, DMGL_NO_OPTS);
    return name && mode == DEMANGLE_SIMPLE ? remove_groups(name, '<', '>')
                                           : name;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Index of the bracket that closes the one at text[i]; 0 if none does. */
static size_t closing_bracket(const char *text, size_t i)
{
    int nesting = 0;

    for (; text[i]; i++) {
        nesting += text[i] == '<';
        if (text[i] == '>' && text[i - 1] != '-' && --nesting == 0)
            return i;
    }
    return 0;
}

/* Generic arguments stand behind a word or "::"; a bracket elsewhere opens
 * a path such as <T as Trait>::f and stays. */
static char *remove_rust_generics(char *text)
{
    size_t to = 0;

    for (size_t i = 0; text[i]; i++) {
        bool turbofish = to >= 2 && text[to - 1] == ':' && text[to - 2] == ':';
        bool generic =
            text[i] == '<' && to > 0 && (turbofish || is_word(text[to - 1]));
        size_t end = generic ? closing_bracket(text, i) : 0;

        if (end) {
            to -= turbofish ? 2 : 0;
            i = end;
        } else {
            text[to++] = text[i];
        }
    }
    text[to] = '\0';
    return text;
}

static char *demangle_any(const char *mangled, enum demangle_mode mode)
{
    char *name = rust_demangle(mangled, DMGL_NO_OPTS);

    if (name)
        return mode == DEMANGLE_SIMPLE ? remove_rust_generics(name) : name;
    return demangle_cpp(mangled, mode);
}

bool demangle_name(struct str mangled, enum demangle_mode mode, struct buf *out)
{
    struct buf symbol = BUF_INIT(MAX_SYMBOL);
    char *name;

    if (mode == DEMANGLE_NONE || mangled.n < 3 || mangled.s[0] != '_' ||
        memchr(mangled.s, '\0', mangled.n))
        return false;
    buf_add(&symbol, mangled);
    if (!buf_ok(&symbol))
        return false;
    name = demangle_any(buf_cstr(&symbol), mode);
    /* Mach-O puts one more underscore in front. */
    if (!name && mangled.s[1] == '_')
        name = demangle_any(buf_cstr(&symbol) + 1, mode);
    buf_release(&symbol);
    if (!name)
        return false;
    buf_add(out, str_from(name));
    free(name);
    return true;
}

static bool looks_like_cpp(struct str name)
{
    if (str_contains(name, STR(".<")) || str_contains(name, STR("]).")))
        return false; /* Go's generics and Java's signatures */
    for (size_t i = 0; i < name.n; i++)
        if (strchr("<>[]", name.s[i]) && name.s[i])
            return true;
    return str_contains(name, STR("::"));
}

static string_id readable(struct profile *p, string_id system_name,
                          enum demangle_mode mode)
{
    struct str name = profile_str(p, system_name);
    struct buf out = arena_buf(p->arena);
    string_id id = system_name;
    char *text;

    if (demangle_name(name, mode, &out)) {
        id = profile_intern(p, buf_str(&out));
    } else if (mode != DEMANGLE_FULL && looks_like_cpp(name)) {
        text = remove_groups(arena_cstr(p->arena, name), '(', ')');
        if (mode == DEMANGLE_SIMPLE)
            text = remove_groups(text, '<', '>');
        id = profile_intern(p, str_from(text));
    }
    buf_release(&out);
    return id;
}

/* Blanks aside: some demanglers write "> >", others ">>". */
static bool is_same_text(struct str a, struct str b)
{
    size_t i = 0, j = 0;

    for (;; i++, j++) {
        while (i < a.n && a.s[i] == ' ')
            i++;
        while (j < b.n && b.s[j] == ' ')
            j++;
        if (i == a.n || j == b.n)
            return i == a.n && j == b.n;
        if (a.s[i] != b.s[j])
            return false;
    }
}

/* Returns true if the writer of the profile demangled the name in full. */
static bool is_full_name(const struct profile *p, const struct function *f)
{
    struct str name = profile_str(p, f->name);
    struct buf full = BUF_INIT(MAX_SYMBOL);
    bool is_full;

    if (str_find_char(name, '(') < 0 && str_find_char(name, '<') < 0)
        return false; /* nothing to shorten */
    is_full =
        demangle_name(profile_str(p, f->system_name), DEMANGLE_FULL, &full) &&
        is_same_text(name, buf_str(&full));
    buf_release(&full);
    return is_full;
}

void demangle_profile(struct profile *p, enum demangle_mode mode, bool force)
{
    if (mode == DEMANGLE_NONE)
        return;
    for (size_t i = 0; i < p->functions.n; i++) {
        struct function *f = &p->functions.v[i];

        if (force && f->name && f->system_name)
            f->name = f->system_name;
        if (f->name && f->name != f->system_name && !is_full_name(p, f))
            continue;
        f->name = readable(p, f->system_name, mode);
    }
}
