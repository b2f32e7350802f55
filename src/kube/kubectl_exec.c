/*
 * Each program is started by itself and not through a shell: a container may
 * have curl and no shell.  bash speaks HTTP/1.0, so that the body is neither
 * chunked nor followed by anything; reading a socket line by line, it takes
 * no byte more than the line, so cat gets the body whole.
 */
#include "kube/kubectl_exec.h"

#include <stdio.h>

static const char bash_script[] =
    "exec 3<>/dev/tcp/127.0.0.1/$1 || exit 7\n"
    "printf 'GET %s HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' \"$2\" >&3\n"
    "read -r version code reason <&3\n"
    "while IFS= read -r line <&3 && [ \"$line\" != $'\\r' ]; do :; done\n"
    "[ \"$code\" = 200 ] || { echo \"server response: $code ${reason%?}\" >&2; "
    "exit 22; }\n"
    "exec cat <&3\n";

#define MAX_WORDS 24

static size_t add_tool(enum kubectl_tool tool, bool https, const char *url,
                       const char *seconds, const char *port, const char *path,
                       const char **args)
{
    size_t n = 0;

    switch (tool) {
    case TOOL_CURL:
        args[n++] = "curl", args[n++] = "-sSfk";
        args[n++] = "--noproxy", args[n++] = "*";
        args[n++] = "-m", args[n++] = seconds;
        args[n++] = url;
        break;
    case TOOL_WGET:
        args[n++] = "wget", args[n++] = "-q";
        args[n++] = "-T", args[n++] = seconds;
        if (https)
            args[n++] = "--no-check-certificate";
        args[n++] = "-O", args[n++] = "-";
        args[n++] = url;
        break;
    default:
        args[n++] = "bash", args[n++] = "-c", args[n++] = bash_script;
        args[n++] = "bash", args[n++] = port, args[n++] = path;
    }
    return n;
}

/* GNU's wget is silent when it is told to show no progress. */
static void explain_wget(struct kubectl_failure *why)
{
    struct str words = str_from(why->words);

    if (str_eq(words, STR("command terminated with exit code 4")))
        kubectl_failure_set(why, KUBECTL_REFUSED, "connection refused");
    else if (str_eq(words, STR("command terminated with exit code 8")))
        kubectl_failure_set(why, KUBECTL_NOT_FOUND,
                            "the server answers with an error, says wget");
}

static bool get_with(enum kubectl_tool tool, const struct kubectl_exec *e,
                     const struct kubectl *k,
                     const struct kubectl_request *request, struct buf *out,
                     struct kubectl_failure *why)
{
    const char *args[MAX_WORDS] = {"exec", "--namespace", e->namespace_name,
                                   e->pod};
    char url[1024], seconds[16], port[16];
    size_t n = 4;

    snprintf(url, sizeof(url), "http%s://127.0.0.1:%u%s",
             request->https ? "s" : "", request->port, request->path);
    snprintf(seconds, sizeof(seconds), "%d", request->seconds);
    snprintf(port, sizeof(port), "%u", request->port);
    if (e->container) {
        args[n++] = "--container";
        args[n++] = e->container;
    }
    args[n++] = "--";
    n += add_tool(tool, request->https, url, seconds, port, request->path,
                  args + n);
    args[n] = NULL;
    if (kubectl_run(k, args, STR(""), out, why))
        return true;
    if (tool == TOOL_WGET)
        explain_wget(why);
    return false;
}

bool kubectl_exec_get(struct kubectl_exec *e, const struct kubectl *k,
                      const struct kubectl_request *request, struct buf *out,
                      struct kubectl_failure *why)
{
    if (e->tool != TOOL_UNKNOWN)
        return get_with(e->tool, e, k, request, out, why);
    for (enum kubectl_tool t = TOOL_CURL; t <= TOOL_BASH; t++) {
        if (t == TOOL_BASH && request->https)
            break;
        buf_clear(out);
        bool ok = get_with(t, e, k, request, out, why);
        if (ok || why->trouble != KUBECTL_NO_COMMAND) {
            e->tool = t;
            return ok;
        }
    }
    kubectl_failure_set(why, KUBECTL_NO_COMMAND,
                        "the container has neither curl nor wget%s",
                        request->https ? "" : " nor bash");
    return false;
}
