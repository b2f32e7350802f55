#include "kube/owner.h"

#include "base/clock.h"

#define NEAR_NS (7 * 24 * 3600 * SECOND) /* a Job may wait before it starts */

/* "name-suffix" without "-suffix"; "" if it does not end so. */
static struct str without(struct str name, struct str suffix)
{
    struct str rest;

    if (suffix.n == 0 || name.n < suffix.n + 2 || !str_has_suffix(name, suffix))
        return STR("");
    rest = str_first(name, name.n - suffix.n);
    return rest.s[rest.n - 1] == '-' ? str_first(rest, rest.n - 1) : STR("");
}

static bool is_near(uint64_t time, int64_t unit_ns, int64_t created_ns)
{
    int64_t scheduled_ns;

    if (time > (uint64_t)(INT64_MAX / unit_ns))
        return false;
    scheduled_ns = (int64_t)time * unit_ns;
    /* A minute for clocks that differ. */
    return scheduled_ns <= created_ns + 60 * SECOND &&
           scheduled_ns >= created_ns - NEAR_NS;
}

static struct str cron_job(const struct kube_pod *pod)
{
    struct str job = pod->controller_name;
    ptrdiff_t dash = str_rfind_char(job, '-');
    uint64_t time;

    if (dash <= 0 || !str_to_u64(str_skip(job, (size_t)dash + 1), 10, &time))
        return STR("");
    if (!is_near(time, 60 * SECOND, pod->created_ns) &&
        !is_near(time, SECOND, pod->created_ns))
        return STR("");
    return str_first(job, (size_t)dash);
}

struct kube_owner kube_pod_owner(const struct kube_pod *pod)
{
    struct str name = STR("");

    if (str_eq(pod->controller_kind, STR("ReplicaSet"))) {
        name = without(pod->controller_name,
                       kube_pod_label(pod, STR("pod-template-hash")));
        if (name.n)
            return (struct kube_owner){STR("Deployment"), name};
    }
    if (str_eq(pod->controller_kind, STR("Job"))) {
        name = cron_job(pod);
        if (name.n)
            return (struct kube_owner){STR("CronJob"), name};
    }
    if (str_eq(pod->controller_kind, STR("Node"))) {
        name = without(pod->name, pod->controller_name);
        return (struct kube_owner){STR("Node"), name.n ? name : pod->name};
    }
    return (struct kube_owner){pod->controller_kind, pod->controller_name};
}
