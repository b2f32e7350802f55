/*
 * `kubectl debug` has profiles for the container's rights.  `restricted` is
 * accepted in every namespace, but an image whose user is root does not start
 * with it unless the pod names another user; `baseline` starts, but is refused
 * where only restricted pods may be.  A container that was refused leaves
 * nothing behind and one that does not start stays forever, so `restricted`
 * comes first only where the pod says that it is not root.
 */
#include "kube/kubectl_debug.h"

#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "kube/kubectl_json.h"

#define WAIT_SECONDS 120 /* an image may have to be pulled */
#define SAID_MAX     ((size_t)64 << 10)

/* A pod, and what is done with it. */
struct visit {
    struct kubectl_debug *d;
    struct arena *a;
    const struct kubectl *k;
    const char *namespace_name, *pod;
};

static const struct node *read_pod(struct visit *v, struct kubectl_failure *why)
{
    const char *const args[] = {
        "get", "pod", v->pod, "-o", "json", "--namespace", v->namespace_name,
        NULL};

    return kubectl_json(v->a, v->k, args, why);
}

static bool is_not_root(const struct node *pod)
{
    const struct node *context =
        kubectl_json_at(kubectl_json_at(pod, "spec"), "securityContext");
    struct str user = kubectl_json_text(context, "runAsUser");

    return user.n ? !str_eq(user, STR("0"))
                  : str_eq(kubectl_json_text(context, "runAsNonRoot"),
                           STR("true"));
}

static bool add(struct visit *v, const char *profile, const char *name,
                struct kubectl_failure *why)
{
    char seconds[16];
    const char *const args[] = {"debug",       "--namespace", v->namespace_name,
                                v->pod,        "--image",     v->d->image,
                                "--container", name,          "--profile",
                                profile,       "--",          "sleep",
                                seconds,       NULL};
    struct buf out = BUF_INIT(SAID_MAX);
    bool ok;

    snprintf(seconds, sizeof(seconds), "%d", v->d->seconds);
    ok = kubectl_run(v->k, args, STR(""), &out, why);
    buf_release(&out);
    if (!ok && str_contains(str_from(why->words), STR("unknown flag")))
        kubectl_failure_set(why, KUBECTL_OTHER,
                            "--debug needs kubectl 1.27 or newer");
    return ok;
}

static bool is_refused_by_policy(const struct kubectl_failure *why)
{
    return str_contains(str_from(why->words), STR("violates PodSecurity"));
}

/* Names of containers are never free again, so each gets a new one.  If kubectl
 * was interrupted, it is not known whether it added the container: then it
 * keeps the name. */
static bool add_as_allowed(struct visit *v, const struct node *pod,
                           struct kubectl_failure *why)
{
    bool careful = is_not_root(pod), ok;
    char *name = v->d->name;
    unsigned number = 0;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        number = (unsigned)time(NULL);
    snprintf(name, sizeof(v->d->name), "pprof-%08x", number);
    ok = add(v, careful ? "restricted" : "baseline", name, why);
    if (!ok && !careful && is_refused_by_policy(why))
        ok = add(v, "restricted", name, why);
    if (!ok && why->trouble != KUBECTL_STOPPED)
        name[0] = '\0';
    return ok;
}

static const struct node *state_of(const struct node *pod, const char *name)
{
    const struct node *list = kubectl_json_at(kubectl_json_at(pod, "status"),
                                              "ephemeralContainerStatuses");

    for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n; i++)
        if (str_eq(kubectl_json_text(list->items[i], "name"), str_from(name)))
            return kubectl_json_at(list->items[i], "state");
    return NULL;
}

/* "ErrImagePull": the kubelet goes on trying, but we do not wait for it. */
static bool is_hopeless(struct str reason)
{
    return str_has_prefix(reason, STR("Err")) ||
           str_has_prefix(reason, STR("Invalid")) ||
           str_has_suffix(reason, STR("BackOff")) ||
           str_has_suffix(reason, STR("Error"));
}

static bool refuse(const struct kubectl_debug *d, const struct node *state,
                   struct kubectl_failure *why)
{
    struct str reason = kubectl_json_text(state, "reason");
    struct str message = kubectl_json_text(state, "message");

    message = str_first(message, message.n < 250 ? message.n : 250);
    kubectl_failure_set(
        why, KUBECTL_OTHER,
        "the image %.100s does not run as a debug container: %" STR_FMT
        "%s%" STR_FMT "; choose another with --image",
        d->image, STR_ARG(reason), message.n ? ": " : "", STR_ARG(message));
    return false;
}

static bool wait_until_it_runs(struct visit *v, struct kubectl_failure *why)
{
    for (int i = 0; i < WAIT_SECONDS; i++) {
        const struct node *pod = read_pod(v, why), *state, *waits, *ended;

        if (!pod)
            return false;
        state = state_of(pod, v->d->name);
        waits = kubectl_json_at(state, "waiting");
        ended = kubectl_json_at(state, "terminated");
        if (kubectl_json_at(state, "running"))
            return true;
        if (ended)
            return refuse(v->d, ended, why);
        if (is_hopeless(kubectl_json_text(waits, "reason")))
            return refuse(v->d, waits, why);
        nanosleep(&(struct timespec){1, 0}, NULL); /* Ctrl-C ends it */
    }
    kubectl_failure_set(why, KUBECTL_OTHER,
                        "the debug container did not run after %d s",
                        WAIT_SECONDS);
    return false;
}

bool kubectl_debug_open(struct kubectl_debug *d, struct arena *a,
                        const struct kubectl *k, const char *namespace_name,
                        const char *pod, struct kubectl_failure *why)
{
    struct visit v = {d, a, k, namespace_name, pod};
    const struct node *object = read_pod(&v, why);

    d->name[0] = '\0';
    return object && add_as_allowed(&v, object, why) &&
           wait_until_it_runs(&v, why);
}
