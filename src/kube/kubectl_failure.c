/*
 * stderr of kubectl may begin with log lines ("E1116 18:08:51.117 …") and end
 * with the sentence that counts:
 *
 *     error: error upgrading connection: unable to upgrade connection: pods
 *     "web-1" is forbidden: User "alice" cannot create resource
 *     "pods/portforward" in API group "" in the namespace "demo"
 */
#include "kube/kubectl_failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* As much as there is room for; what a container writes may contain NULs. */
static void copy(char *out, size_t size, struct str text)
{
    size_t n = text.n < size ? text.n : size - 1;

    for (size_t i = 0; i < n; i++)
        out[i] = text.s[i] ? text.s[i] : '?';
    out[n] = '\0';
}

/* The text between `before` and the next `after`; "" if there is none. */
static struct str between(struct str text, struct str before, char after)
{
    ptrdiff_t at = str_find(text, before), end;

    if (at < 0)
        return STR("");
    text = str_skip(text, (size_t)at + before.n);
    end = str_find_char(text, after);
    return end < 0 ? STR("") : str_first(text, (size_t)end);
}

static bool read_right(struct str text, struct kube_right *out)
{
    struct str verb = between(text, STR(" cannot "), ' ');

    memset(out, 0, sizeof(*out));
    if (!str_contains(text, STR("orbidden: User \"")) || verb.n == 0)
        return false;
    copy(out->verb, sizeof(out->verb), verb);
    copy(out->resource, sizeof(out->resource),
         between(text, STR(" resource \""), '"'));
    copy(out->group, sizeof(out->group),
         between(text, STR(" in API group \""), '"'));
    copy(out->namespace_name, sizeof(out->namespace_name),
         between(text, STR(" in the namespace \""), '"'));
    copy(out->path, sizeof(out->path), between(text, STR(" path \""), '"'));
    return true;
}

/* A line of klog: "E1116 18:08:51.117867    4175 file.go:522] …". */
static bool is_log_line(struct str line)
{
    return line.n > 5 && strchr("EWIF", line.s[0]) &&
           str_digit(line.s[1]) < 10 && str_digit(line.s[4]) < 10 &&
           line.s[5] == ' ';
}

/* The sentence for the user: the first line with "rror" that is no log line,
 * else the last line. */
static struct str sentence(struct str text)
{
    struct str line, last = STR("");

    while (str_next_line(&text, &line)) {
        line = str_trim(line);
        if (line.n == 0 || is_log_line(line) ||
            str_has_prefix(line, STR("Defaulted container ")) ||
            str_has_prefix(line, STR("Defaulting container name ")) ||
            str_has_prefix(line, STR("Use 'kubectl describe pod")) ||
            str_has_prefix(line, STR("Warning: ")) ||
            (last.n && str_has_prefix(line, STR("command terminated with"))))
            continue;
        last = line;
        if (str_has_prefix(line, STR("error: ")))
            return str_skip(line, sizeof("error: ") - 1);
        if (str_has_prefix(line, STR("Error from server")) ||
            str_has_prefix(line, STR("Error in configuration")))
            break;
    }
    ptrdiff_t colon = str_find(last, STR("): "));
    if (str_has_prefix(last, STR("Error from server (")) && colon > 0)
        return str_skip(last, (size_t)colon + 3);
    return last;
}

static enum kubectl_trouble trouble_of(struct str text)
{
    static const struct {
        struct str words;
        enum kubectl_trouble trouble;
    } known[] = {
        {STR_INIT("You must be logged in to the server"), KUBECTL_UNAUTHORIZED},
        {STR_INIT("(Unauthorized)"), KUBECTL_UNAUTHORIZED},
        {STR_INIT("upgrade connection: Unauthorized"), KUBECTL_UNAUTHORIZED},
        {STR_INIT("getting credentials: exec"), KUBECTL_UNAUTHORIZED},
        /* runc, crun, gVisor, Docker */
        {STR_INIT("executable file not found"), KUBECTL_NO_COMMAND},
        {STR_INIT("not found in $PATH"), KUBECTL_NO_COMMAND},
        {STR_INIT("no such file or directory: unknown"), KUBECTL_NO_COMMAND},
        {STR_INIT("error finding executable"), KUBECTL_NO_COMMAND},
        {STR_INIT("terminated with exit code 126"), KUBECTL_NO_COMMAND},
        {STR_INIT("terminated with exit code 127"), KUBECTL_NO_COMMAND},
        {STR_INIT("context deadline exceeded"), KUBECTL_OTHER},
        {STR_INIT("error dialing backend"), KUBECTL_UNREACHABLE},
        {STR_INIT("The connection to the server"), KUBECTL_UNREACHABLE},
        {STR_INIT("Unable to connect to the server"), KUBECTL_UNREACHABLE},
        {STR_INIT("connection refused"), KUBECTL_REFUSED},
        /* curl, wget */
        {STR_INIT("Connection refused"), KUBECTL_REFUSED},
        {STR_INIT("curl: (7) "), KUBECTL_REFUSED},
        {STR_INIT("returned error: 404"), KUBECTL_NOT_FOUND},
        {STR_INIT("404 Not Found"), KUBECTL_NOT_FOUND},
        {STR_INIT("(NotFound): pods \""), KUBECTL_NO_POD},
        {STR_INIT("because pod is not running"), KUBECTL_NO_POD},
        {STR_INIT("into a container in a completed pod"), KUBECTL_NO_POD},
        {STR_INIT("(NotFound)"), KUBECTL_NOT_FOUND},
        {STR_INIT("pgrade request required"), KUBECTL_NO_UPGRADE},
        {STR_INIT("unable to upgrade connection"), KUBECTL_NO_UPGRADE},
        {STR_INIT("error upgrading connection"), KUBECTL_NO_UPGRADE},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (str_contains(text, known[i].words))
            return known[i].trouble;
    return KUBECTL_OTHER;
}

void kubectl_failure_read(struct str text, struct kubectl_failure *out)
{
    struct str words = sentence(text);

    out->trouble =
        read_right(text, &out->right) ? KUBECTL_FORBIDDEN : trouble_of(text);
    if (out->trouble == KUBECTL_REFUSED)
        words = STR("connection refused");
    copy(out->words, sizeof(out->words),
         words.n ? words : STR("kubectl failed without a message"));
}

void kubectl_failure_set(struct kubectl_failure *out,
                         enum kubectl_trouble trouble, const char *fmt, ...)
{
    va_list ap;

    memset(&out->right, 0, sizeof(out->right));
    out->trouble = trouble;
    va_start(ap, fmt);
    vsnprintf(out->words, sizeof(out->words), fmt, ap);
    va_end(ap);
}

static bool same_place(const struct kube_right *x, const struct kube_right *y)
{
    return strcmp(x->namespace_name, y->namespace_name) == 0;
}

static bool same_right(const struct kube_right *x, const struct kube_right *y)
{
    return same_place(x, y) && strcmp(x->verb, y->verb) == 0 &&
           strcmp(x->group, y->group) == 0 &&
           strcmp(x->resource, y->resource) == 0 &&
           strcmp(x->path, y->path) == 0;
}

static void print_rule(const struct kube_right *r, struct buf *out)
{
    if (r->path[0])
        buf_addf(out, "- nonResourceURLs: [\"%s\"]\n", r->path);
    else
        buf_addf(out, "- apiGroups: [\"%s\"]\n  resources: [\"%s\"]\n",
                 r->group, r->resource);
    buf_addf(out, "  verbs: [\"%s\"]\n", r->verb);
}

static bool is_repeated(const struct kube_right *rights, size_t i,
                        bool (*same)(const struct kube_right *,
                                     const struct kube_right *))
{
    for (size_t j = 0; j < i; j++)
        if (same(&rights[j], &rights[i]))
            return true;
    return false;
}

void kube_rights_print(const struct kube_right *rights, size_t n,
                       struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct kube_right *first = &rights[i];

        if (is_repeated(rights, i, same_place))
            continue;
        buf_addf(out,
                 "apiVersion: rbac.authorization.k8s.io/v1\n"
                 "kind: %s\nmetadata:\n  name: pprof\n",
                 first->namespace_name[0] ? "Role" : "ClusterRole");
        if (first->namespace_name[0])
            buf_addf(out, "  namespace: %s\n", first->namespace_name);
        buf_addf(out, "rules:\n");
        for (size_t j = i; j < n; j++)
            if (same_place(first, &rights[j]) &&
                !is_repeated(rights, j, same_right))
                print_rule(&rights[j], out);
    }
}
