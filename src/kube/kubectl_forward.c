/*
 * --address 127.0.0.1 because kubectl otherwise may listen on [::1] alone and
 * not say so, and an empty local port because kubectl then finds a free one.
 */
#include "kube/kubectl_forward.h"

#include <stdio.h>
#include <unistd.h>

#define SAID_MAX     ((size_t)64 << 10)
#define READY_MS     60000
#define STEP_MS      200
#define COMPLAINT_MS 300

/* "Forwarding from 127.0.0.1:38335 -> 6060" */
static unsigned local_port(struct str text)
{
    struct str line, number;
    uint64_t port;
    struct str start = STR("Forwarding from 127.0.0.1:");

    while (str_next_line(&text, &line)) {
        if (!str_has_prefix(line, start))
            continue;
        line = str_skip(line, start.n);
        if (str_split(&line, ' ', &number) && str_to_u64(number, 10, &port) &&
            port > 0 && port < 65536)
            return (unsigned)port;
    }
    return 0;
}

static bool wait_until_ready(struct kubectl_forward *f, const struct kubectl *k,
                             struct kubectl_failure *why)
{
    for (int ms = 0; ms < READY_MS; ms += STEP_MS) {
        int n = kubectl_read(&f->process, STEP_MS, &f->out, &f->said);

        f->local_port = local_port(buf_str(&f->out));
        if (f->local_port)
            return true;
        if (k->stop && *k->stop) {
            kubectl_failure_set(why, KUBECTL_STOPPED, "interrupted");
            return false;
        }
        if (n < 0) {
            kubectl_failure_read(buf_str(&f->said), why);
            return false;
        }
        if (n > 0)
            ms -= STEP_MS;
    }
    kubectl_failure_set(why, KUBECTL_OTHER,
                        "kubectl port-forward was not ready after %d s",
                        READY_MS / 1000);
    return false;
}

bool kubectl_forward_open(struct kubectl_forward *f, const struct kubectl *k,
                          const char *namespace_name, const char *pod,
                          unsigned port, struct kubectl_failure *why)
{
    char target[300], ports[16];
    const char *const args[] = {"port-forward", "--namespace", namespace_name,
                                "--address",    "127.0.0.1",   target,
                                ports,          NULL};

    *f = (struct kubectl_forward){.process = {0, -1, -1},
                                  .out = BUF_INIT(SAID_MAX),
                                  .said = BUF_INIT(SAID_MAX)};
    snprintf(target, sizeof(target), "pod/%s", pod);
    snprintf(ports, sizeof(ports), ":%u", port);
    if (kubectl_start(k, args, STR(""), &f->process, why) &&
        wait_until_ready(f, k, why))
        return true;
    kubectl_forward_close(f);
    return false;
}

bool kubectl_forward_complaint(struct kubectl_forward *f,
                               struct kubectl_failure *why)
{
    for (int i = 0; i < 10 && f->said.len == 0; i++)
        if (kubectl_read(&f->process, COMPLAINT_MS / 10, &f->out, &f->said) < 0)
            break;
    if (f->said.len == 0)
        return false;
    kubectl_failure_read(buf_str(&f->said), why);
    if (why->trouble == KUBECTL_OTHER &&
        str_contains(buf_str(&f->said), STR("lost connection to pod"))) {
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "the connection to the pod was lost; it may have "
                            "ended");
        return true;
    }
    return why->trouble != KUBECTL_OTHER; /* log lines about a lost client */
}

void kubectl_forward_close(struct kubectl_forward *f)
{
    if (f->process.pid > 0)
        kubectl_end(&f->process);
    buf_release(&f->out);
    buf_release(&f->said);
    f->local_port = 0;
}
