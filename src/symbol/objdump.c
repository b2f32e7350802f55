/*
 * Runs objdump on a range of addresses and reads its text.  GNU's and LLVM's
 * print functions and source positions differently; the parser accepts both,
 * line by line, and ignores what it does not know.
 */
#include "symbol/objdump.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/process.h"

#define OUTPUT_MAX ((size_t)1 << 30)

bool objdump_run(const char *objdump, bool is_llvm, const char *file,
                 struct arena *a, uint64_t start, uint64_t end,
                 bool intel_syntax, struct instructions *out, struct error *err)
{
    struct buf text = arena_buf(a);
    const char *argv[12];
    int n = 0;
    bool ok;

    argv[n++] = objdump;
    argv[n++] = "--disassemble";
    argv[n++] = "--demangle";
    argv[n++] = "--no-show-raw-insn";
    argv[n++] = "--line-numbers";
    argv[n++] =
        arena_printf(a, "--start-address=%#llx", (unsigned long long)start);
    argv[n++] =
        arena_printf(a, "--stop-address=%#llx", (unsigned long long)end);
    if (intel_syntax && is_llvm) {
        argv[n++] = "--x86-asm-syntax=intel";
    } else if (intel_syntax) {
        argv[n++] = "-M";
        argv[n++] = "intel";
    }
    argv[n++] = file;
    argv[n] = NULL;
    text.max = OUTPUT_MAX;
    ok = process_filter((char *const *)argv, STR(""), &text, err);
    if (ok)
        objdump_parse(a, buf_str(&text), out);
    return ok;
}

/* --- finding ------------------------------------------------------------ */

static const char *find_in(struct arena *a, struct str dir, const char *name)
{
    const char *path = arena_printf(a, "%" STR_FMT "/%s", STR_ARG(dir), name);

    return dir.n && access(path, X_OK) == 0 ? path : NULL;
}

static const char *find_on_path(struct arena *a, const char *name)
{
    struct str rest = str_from(getenv("PATH")), dir;
    const char *found;

    while (str_split(&rest, ':', &dir))
        if ((found = find_in(a, dir, name)))
            return found;
    return NULL;
}

/* Directories given for the tool by name come before those for any tool. */
static const char *find_in_tools(struct arena *a, struct str tools,
                                 const char *name)
{
    for (int named = 1; named >= 0; named--) {
        struct str rest = tools, item;

        while (str_split(&rest, ',', &item)) {
            ptrdiff_t colon = str_find_char(item, ':');
            struct str dir = str_skip(item, (size_t)(colon + 1));
            const char *found;

            if ((colon >= 0) != named)
                continue;
            if (named &&
                !str_eq(str_first(item, (size_t)colon), STR("objdump")))
                continue;
            if ((found = find_in(a, dir, name)))
                return found;
        }
    }
    return NULL;
}

const char *objdump_find(struct arena *a, struct str tools, bool *is_llvm)
{
    static const char *const names[] = {"llvm-objdump", "objdump"};

    for (size_t i = 0; i < 2; i++) {
        const char *found = tools.n ? find_in_tools(a, tools, names[i])
                                    : find_on_path(a, names[i]);

        if (found) {
            *is_llvm = i == 0;
            return found;
        }
    }
    return NULL;
}

/* --- reading ------------------------------------------------------------ */

struct reader {
    struct str function, file;
    int64_t line;
};

static size_t hex_digits(struct str s)
{
    size_t n = 0;

    while (n < s.n && isxdigit((unsigned char)s.s[n]))
        n++;
    return n;
}

/* "  401136:\tpush   %rbp" */
static bool parse_instruction(struct str line, struct instruction *out)
{
    size_t n = hex_digits(line);

    if (n == 0 || n >= line.n || line.s[n] != ':' ||
        !str_to_u64(str_first(line, n), 16, &out->address))
        return false;
    line = str_skip(line, n + 1);
    if (line.n == 0 || !isspace((unsigned char)line.s[0]))
        return false;
    out->text = str_trim(line);
    return true;
}

static struct str without_comment_mark(struct str line)
{
    if (str_has_prefix(line, STR(";")))
        line = str_skip(line, 1);
    if (str_has_prefix(line, STR(" ")))
        line = str_skip(line, 1);
    return line;
}

/* "/src/a.c:12 (discriminator 3)": the last colon with digits behind it. */
static bool parse_file_line(struct str line, struct reader *r)
{
    for (size_t at = line.n; at-- > 1;) {
        size_t digits = 0;

        if (line.s[at] != ':')
            continue;
        while (at + 1 + digits < line.n &&
               isdigit((unsigned char)line.s[at + 1 + digits]))
            digits++;
        if (digits == 0 ||
            !str_to_i64(str_of(line.s + at + 1, digits), 10, &r->line))
            continue;
        r->file = str_first(line, at);
        return true;
    }
    return false;
}

/* "main():" (GNU), "0000000000401136 <main>:" and "main:" (LLVM) */
static bool parse_function(struct str line, struct reader *r)
{
    size_t n;

    if (str_has_suffix(line, STR("():"))) {
        r->function = str_first(line, line.n - 3);
        return true;
    }
    if (!str_has_suffix(line, STR(":")))
        return false;
    n = hex_digits(line);
    if (n > 0 && n < line.n && line.s[n] == ' ')
        line = str_skip(line, n + 1);
    if (str_find_char(line, ' ') >= 0)
        return false;
    r->function = str_first(line, line.n - 1);
    return true;
}

void objdump_parse(struct arena *a, struct str text, struct instructions *out)
{
    struct reader r = {0};
    struct str line;

    while (str_next_line(&text, &line)) {
        struct instruction i = {0};

        line = str_trim(line);
        if (parse_instruction(line, &i)) {
            i.function = r.function;
            i.file = r.file;
            i.line = r.line;
            *vec_push(a, &out->list) = i;
            continue;
        }
        line = without_comment_mark(line);
        if (!parse_file_line(line, &r) && !parse_function(line, &r))
            r = (struct reader){0};
    }
}
