/* What kubectl's words mean, presets, and the kubectl command line. */
#include "test.h"

#include "cmd/kubectl-pprof/arguments.h"
#include "config/document.h"
#include "kube/kubectl_failure.h"
#include "kube/kubectl_pods.h"
#include "kube/preset.h"

static struct kubectl_failure words_of(const char *text)
{
    struct kubectl_failure why;

    kubectl_failure_read(str_from(text), &why);
    return why;
}

TEST(a_missing_right_is_found)
{
    struct kubectl_failure why = words_of(
        "error: error upgrading connection: unable to upgrade connection: "
        "pods \"web-1\" is forbidden: User \"alice\" cannot create resource "
        "\"pods/portforward\" in API group \"\" in the namespace \"demo\"\n");

    EXPECT(why.trouble == KUBECTL_FORBIDDEN);
    EXPECT(strcmp(why.right.verb, "create") == 0);
    EXPECT(strcmp(why.right.resource, "pods/portforward") == 0);
    EXPECT(strcmp(why.right.group, "") == 0);
    EXPECT(strcmp(why.right.namespace_name, "demo") == 0);
}

TEST(a_right_to_a_path_is_found)
{
    struct kubectl_failure why = words_of(
        "Error from server (Forbidden): forbidden: User \"bob\" cannot "
        "get path \"/debug/pprof/heap\"\n");

    EXPECT(why.trouble == KUBECTL_FORBIDDEN);
    EXPECT(strcmp(why.right.path, "/debug/pprof/heap") == 0);
}

TEST(log_lines_are_no_sentence)
{
    struct kubectl_failure why = words_of(
        "E1116 17:43:55.067493     521 memcache.go:265] \"Unhandled "
        "Error\" err=\"couldn't get: connection refused\"\n"
        "The connection to the server 127.0.0.1:1 was refused - did you "
        "specify the right host or port?\n");

    EXPECT(why.trouble == KUBECTL_UNREACHABLE);
    EXPECT(strncmp(why.words, "The connection to the server", 28) == 0);
}

TEST(the_other_troubles)
{
    EXPECT(words_of("Error from server (NotFound): pods \"x\" not found")
               .trouble == KUBECTL_NO_POD);
    EXPECT(words_of("Error from server (NotFound): the server could not find "
                    "the requested resource")
               .trouble == KUBECTL_NOT_FOUND);
    EXPECT(words_of("error: error upgrading connection: Upgrade request "
                    "required")
               .trouble == KUBECTL_NO_UPGRADE);
    EXPECT(words_of("error: error upgrading connection: error dialing "
                    "backend: dial tcp 10.0.0.7:10250: connect: connection "
                    "refused")
               .trouble == KUBECTL_UNREACHABLE);
    EXPECT(strcmp(words_of("Defaulting container name to first.\n"
                           "Use 'kubectl describe pod/two -n demo' to see all "
                           "of the containers in this pod.\n"
                           "command terminated with exit code 7\n")
                      .words,
                  "command terminated with exit code 7") == 0);
    EXPECT(words_of("error: You must be logged in to the server (x)").trouble ==
           KUBECTL_UNAUTHORIZED);
    EXPECT(
        words_of("exec: \"sh\": executable file not found in $PATH").trouble ==
        KUBECTL_NO_COMMAND);
    EXPECT(words_of("E1116 18:08:51.117867 4175 p.go:522] err=\"dial tcp4 "
                    "127.0.0.1:1: connect: connection refused\"\n"
                    "error: lost connection to pod")
               .trouble == KUBECTL_REFUSED);
    EXPECT(words_of("error: lost connection to pod").trouble == KUBECTL_OTHER);
    EXPECT(words_of("").trouble == KUBECTL_OTHER);
    EXPECT(strcmp(words_of("Defaulted container \"a\" out of: a, b\n"
                           "curl: (22) The requested URL returned error: 404\n"
                           "command terminated with exit code 22\n")
                      .words,
                  "curl: (22) The requested URL returned error: 404") == 0);
}

TEST(rights_become_a_role)
{
    struct kube_right rights[] = {
        {.verb = "create", .resource = "pods/exec", .namespace_name = "a"},
        {.verb = "create", .resource = "pods/exec", .namespace_name = "a"},
        {.verb = "get", .path = "/debug/pprof/*"},
    };
    struct buf b = BUF_INIT(4096);

    kube_rights_print(rights, 3, &b);
    EXPECT(str_eq(
        buf_str(&b),
        STR("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n"
            "  name: pprof\n  namespace: a\nrules:\n- apiGroups: [\"\"]\n"
            "  resources: [\"pods/exec\"]\n  verbs: [\"create\"]\n"
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
            "metadata:\n  name: pprof\nrules:\n- nonResourceURLs: "
            "[\"/debug/pprof/*\"]\n  verbs: [\"get\"]\n")));
    buf_release(&b);
}

static const char *selector(struct arena *a, const char *text)
{
    struct error err;
    const struct node *root =
        document_read_json(a, (struct document_source){"test", str_from(text)},
                           &document_default_limits, &err);

    return root ? kubectl_selector_of(a, root) : NULL;
}

TEST(selectors)
{
    struct arena *a = arena_new();
    const char *all = selector(
        a, "{\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"web\"},"
           "\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"In\","
           "\"values\":[\"a\",\"b\"]},{\"key\":\"old\",\"operator\":"
           "\"DoesNotExist\"}]}}}");

    EXPECT(all && strcmp(all, "app=web,tier in (a,b),!old") == 0);
    all = selector(a, "{\"spec\":{\"selector\":{\"app\":\"web\"}}}");
    EXPECT(all && strcmp(all, "app=web") == 0);
    EXPECT(selector(a, "{\"spec\":{}}") == NULL);
    arena_free(a);
}

TEST(built_in_presets_can_be_read)
{
    struct arena *a = arena_new();
    struct preset p;
    struct error err;

    EXPECT(n_preset_texts >= 12);
    for (size_t i = 0; i < n_preset_texts; i++) {
        EXPECT(preset_parse(a, preset_texts[i].name,
                            str_from(preset_texts[i].text), &p, &err));
        EXPECT(p.raw.n || p.port);
    }
    EXPECT(!preset_parse(a, "x", STR("port: 1"), &p, &err));
    EXPECT(!preset_parse(a, "x", STR("about: a\nport: 70000"), &p, &err));
    EXPECT(!preset_parse(a, "x", STR("about: a\nscheme: ftp"), &p, &err));
    EXPECT(!preset_parse(a, "x", STR("about: a\nraw: debug"), &p, &err));
    EXPECT(!preset_load(a, "../etcd", &p, &err));
    arena_free(a);
}

TEST(arguments_in_any_order)
{
    const char *argv[] = {"kubectl-pprof", "-nx", "top",  "a",         "-l=b",
                          "--seconds",     "5",   "c",    "--context", "d",
                          "--verbose",     "--",  "-cum", NULL};
    struct arena *a = arena_new();
    struct arguments args;
    struct error err;

    EXPECT(arguments_parse(&args, a, 13, (char *const *)argv, &err));
    EXPECT(strcmp(args.command, "top") == 0);
    EXPECT(strcmp(args.namespace_name, "x") == 0);
    EXPECT(strcmp(args.selector, "b") == 0);
    EXPECT(args.seconds == 5 && args.verbose);
    EXPECT(args.names.list.n == 2 && strcmp(args.names.list.v[1], "c") == 0);
    EXPECT(args.others.list.n == 1);
    EXPECT(args.kubectl_flags.list.n == 1 &&
           strcmp(args.kubectl_flags.list.v[0], "--context=d") == 0);
    arena_free(a);
}

TEST_MAIN
